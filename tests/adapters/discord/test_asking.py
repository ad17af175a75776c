"""Facts proposed in a server are shown to their person alone, and saved for it by a button."""

from __future__ import annotations

from adapters.discord.server import DiscordServer
from core.messages import Person
from tests.adapters.discord.life import Club, called, living
from tests.fakes import ScriptedLLM
from tests.talks import Obeying, writing


async def test_a_fact_proposed_in_a_server_is_saved_from_the_private_chat(server: DiscordServer, club: Club) -> None:
    obeying = Obeying()
    async with living(server, llm=ScriptedLLM(obeying)) as life:
        await server.answered(server.use(club.ann, club.general, "memory ask"))
        obeying.next.append(writing(("add", "city", "Rome")))
        server.say(club.ann, club.general, called(server, "I live in Rome"))
        asked = await server.reply(server.private(club.ann), where=lambda m: m.text.startswith("May I remember"))
        assert not any("May I" in message.text for message in club.general.from_bot)
        await server.answered(server.press(club.ann, asked, "Save"))
        await server.wait_for(lambda: asked.text == "Saved. city: Rome")
        person = Person("discord", str(club.ann.id))
        scopes = await life.store.scopes(person)
        assert [scope for scope in scopes if scope != "private"] == [*scopes], "where it was said"
        assert dict(await life.store.known(person, scopes[0])) == {"city": "Rome"}
