"""The memory card on a Discord that others made: list, buttons, form, and a restart in between."""

from __future__ import annotations

from adapters.discord.adapter import DiscordAdapter
from core.bot import Bot, Ports, build
from core.clock import SystemClock
from tests.adapters.discord.people import alone, club, labels, said
from tests.adapters.discord.simulated import QUICK, simulated
from tests.fakes import WordCounter


async def test_a_fact_is_opened_edited_and_forgotten_though_the_bot_restarts() -> None:
    async with simulated() as life:
        place = club(life)
        await place.ann.slash(place.general, "memory set", key="city", value="Rome")
        shown = await place.ann.slash(place.general, "memory view")
        card = shown.response
        assert card is not None
        assert alone(shown)
        again = DiscordAdapter("token", QUICK)
        ports = Ports(life.store, life.llm, WordCounter(), SystemClock(), [again])
        again.attach(build(Bot(), ports, allowed=["discord:*"]))
        await life.discord.restart_bot(again.client)
        await place.ann.select(card, [card.components[0]["components"][0]["options"][0]["value"]])
        assert labels(card.components) == ["Forget this", "Pin", "Edit", "Why", "All facts"]
        form = await place.ann.click(card, label="Edit")
        assert form.modal is not None
        await place.ann.submit_modal(form, {"words": "Oslo"})
        assert card.content.startswith("city: Oslo\n")
        await place.ann.click(card, label="Forget this")
        assert card.content.startswith("Erased: ")


async def test_a_message_is_forgotten_from_its_menu() -> None:
    async with simulated() as life:
        place = club(life)
        message = await place.ann.send(place.general, f"<@{life.me}> I like tea")
        result = await place.ann.context_menu(place.general, "Forget this message", message)
        assert (said(result), alone(result)) == ("Erased: turns: 1.", True)
        assert not await life.store.holds("tea")
