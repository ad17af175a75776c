"""An interaction is acknowledged first and answered where it was made, or told why not."""

from __future__ import annotations

import logging

import pytest

from adapters.inmemory import InMemoryStore
from core import Bot, Choice, Context, Reply, command
from core.errors import StoreError
from core.messages import Message, Person
from tests.adapters.discord.people import alone, club, labels, said
from tests.adapters.discord.simulated import contents, simulated

SECRET = "a private word"


@command(private=True)
async def secretly(context: Context) -> str:
    """Answer in private."""
    return SECRET


@command
async def whisper(context: Context) -> Reply:
    """Answer one person alone, which is not known before."""
    return Reply(SECRET, private=True)


@command
async def fail(context: Context) -> str:
    """Fail."""
    raise ValueError(SECRET)


@command
async def chapters(context: Context) -> Reply:
    """Say much, and offer more."""
    return Reply("\n".join(f"line {n} " + "x" * 60 for n in range(60)), (Choice("Again", "/chapters"),))


BOT = Bot(commands=[secretly, whisper, fail, chapters])


class Failing(InMemoryStore):
    """A store that takes nothing."""

    broken = False

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        if self.broken:
            raise StoreError("The disk is full.")
        return await super().receive(message, keep=keep)


async def test_the_first_that_discord_hears_of_a_command_is_that_an_answer_will_come() -> None:
    async with simulated(bot=BOT) as life:
        place = club(life)
        before = len(life.discord.http_requests)
        await place.ann.slash(place.general, "memory view")
        made = [call for call in life.discord.http_requests[before:] if not call.path.startswith("/channels/")]
        paths = [(call.method, call.path.rpartition("/")[2]) for call in made]
        assert paths == [("POST", "callback"), ("PATCH", "@original")]


@pytest.mark.parametrize("name", ["memory view", "privacy", "fail", "memory history"])
async def test_every_command_is_answered_once(name: str) -> None:
    async with simulated(bot=BOT) as life:
        place = club(life)
        result = await place.ann.slash(place.general, name)
        assert result.response is not None
        assert not result.followups
        assert alone(result) is name.startswith("memory")


async def test_what_turns_out_to_be_for_one_person_is_not_shown_to_all() -> None:
    async with simulated(bot=BOT) as life:
        place = club(life)
        result = await place.ann.slash(place.general, "whisper")
        assert result.response is None
        assert [(message.content, message.ephemeral) for message in result.followups] == [(SECRET, True)]


async def test_a_long_reply_is_shown_whole_and_its_buttons_under_the_last_part() -> None:
    async with simulated(bot=BOT) as life:
        place = club(life)
        result = await place.ann.slash(place.general, "chapters")
        assert all(f"line {n} " in said(result) for n in range(60))
        assert result.response is not None
        assert labels(result.response.components) == []
        assert labels(result.followups[-1].components) == ["Again"]


async def test_a_commands_bug_is_told_in_one_sentence_and_logged_without_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with simulated(bot=BOT) as life:
        place = club(life)
        caplog.set_level(logging.INFO)
        assert "went wrong" in said(await place.ann.slash(place.general, "fail"))
        assert SECRET not in caplog.text


async def test_a_command_that_can_not_be_taken_is_told_to_its_person(caplog: pytest.LogCaptureFixture) -> None:
    store = Failing()
    async with simulated(store=store) as life:
        place = club(life)
        store.broken = True
        result = await place.ann.slash(place.general, "memory set", key="name", value=SECRET)
        assert said(result) == "Sorry, something went wrong on my side. Please try it again."
        assert alone(result)
        assert SECRET not in caplog.text
        assert "Traceback" not in caplog.text


async def test_a_command_that_discord_gave_up_on_is_not_run(caplog: pytest.LogCaptureFixture) -> None:
    async with simulated() as life:
        place = club(life)
        life.discord.inject_error("POST", "/interactions/*/callback", status=404, code=10062)
        await place.ann.slash(place.general, "memory set", key="name", value="Ann")
        assert not await life.store.scopes(Person("discord", str(place.ann.id)))
        assert "a command could not be acknowledged: NotFound" in caplog.text
        assert "Saved" in said(await place.ann.slash(place.general, "memory set", key="name", value="Ann"))


async def test_one_that_was_acknowledged_already_is_left_to_whoever_did() -> None:
    async with simulated() as life:
        place = club(life)
        life.discord.inject_error("POST", "/interactions/*/callback", status=400, code=40060)
        await place.ann.slash(place.general, "memory set", key="name", value="Ann")
        assert not await life.store.scopes(Person("discord", str(place.ann.id)))


@pytest.mark.parametrize("code", [10015, 10062, 50027])
async def test_a_private_answer_whose_token_is_worth_nothing_goes_to_ones_own_chat(code: int) -> None:
    async with simulated(bot=BOT) as life:
        place = club(life)
        life.discord.inject_error("PATCH", "/webhooks/*", status=404 if code != 50027 else 401, code=code)
        await place.ann.slash(place.general, "secretly")
        assert contents(place.ann.user.dm_channel) == [SECRET]
        assert SECRET not in contents(place.general)


async def test_a_refused_answer_is_told_of() -> None:
    async with simulated(bot=BOT) as life:
        place = club(life)
        life.discord.inject_error("PATCH", "/webhooks/*", status=400, code=50035)
        result = await place.ann.slash(place.general, "privacy")
        assert said(result) == "I can't answer that for you here."


async def test_a_stranger_is_told_so_alone_and_again_each_time() -> None:
    async with simulated(allowed=()) as life:
        place = club(life)
        first = await place.ann.slash(place.general, "memory view")
        assert said(first).startswith("I don't know you yet.")
        assert alone(first)
        again = await place.ann.slash(place.general, "help")
        assert said(again) == "I can't answer that for you here."
        assert alone(again)
        assert contents(place.general) == []


async def test_a_promise_that_the_person_has_put_away_is_followed_by_the_answer() -> None:
    async with simulated() as life:
        place = club(life)
        life.discord.inject_error("PATCH", "/webhooks/*", status=404, code=10008)
        result = await place.ann.slash(place.general, "memory view")
        assert "I know no facts" in said(result)
        assert not contents(place.ann.user.dm_channel)


async def test_an_answer_for_which_there_is_no_place_any_more_goes_to_ones_own_chat() -> None:
    async with simulated(bot=BOT) as life:
        place = club(life)
        for method in ("PATCH", "POST"):
            life.discord.inject_error(method, "/webhooks/*", status=404, code=10008)
        await place.ann.slash(place.general, "secretly")
        assert contents(place.ann.user.dm_channel) == [SECRET]
