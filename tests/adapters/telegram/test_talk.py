"""A talk with the bot, in private."""

from adapters.telegram.server import TelegramServer, User
from tests.adapters.telegram.life import living, saying
from tests.fakes import ScriptedLLM


async def test_a_message_is_answered(server: TelegramServer, ann: User) -> None:
    async with living(server):
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "You said: hi"
