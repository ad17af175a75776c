"""Facts proposed in a group are shown to their person alone, in private, and saved there by a button."""

from __future__ import annotations

from adapters.telegram.server import TelegramServer
from adapters.telegram.server.world import User
from core.messages import ChatKey, Person
from tests.adapters.telegram.life import living
from tests.fakes import ScriptedLLM
from tests.talks import Obeying, writing


async def test_a_fact_proposed_in_a_group_is_saved_from_the_private_chat(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann])
    obeying = Obeying()
    async with living(server, llm=ScriptedLLM(obeying)) as life:
        said = server.say(ann, ann, "/memory ask")
        await server.reply(ann, after=said)
        obeying.next.append(writing(("add", "city", "Rome")))
        said = server.say(ann, group, "@keepmind_bot I live in Rome")
        assert (await server.reply(group, after=said)).text == "Noted."
        asked = await server.reply(ann, where=lambda m: m.text.startswith("May I remember"))
        assert len(group.from_bot) == 1
        await server.answered(server.press(ann, asked, "Save"))
        await server.wait_for(lambda: asked.text == "Saved. city: Rome")
        person = Person("telegram", str(ann.id))
        assert dict(await life.store.known(person, ChatKey("telegram", str(group.id)).scope)) == {"city": "Rome"}
        assert dict(await life.store.known(person, "private")) == {}
