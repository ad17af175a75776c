"""What a test or the terminal lets people say, send, edit and press."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.telegram.server import shapes
from adapters.telegram.server.entities import with_found
from adapters.telegram.server.places import Places
from adapters.telegram.server.refusals import Json
from adapters.telegram.server.world import TELEGRAM, Chat, Message, User
from core.text.splitting import utf16_length

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)
MOST_PASTED = 4096
Origin = User | Chat | Message | str


class Talk(Places):
    """People talking. A chat as the sender speaks anonymously, or as a channel."""

    def say(
        self,
        sender: User | Chat,
        chat: Chat | User,
        text: str,
        reply_to: Message | None = None,
        topic: int | None = None,
        forward_from: Origin | None = None,
        entities: Sequence[Json] = (),
        quote: str = "",
    ) -> Message:
        """Say a text; commands, mentions and links in it are found as Telegram finds them."""
        content: Json = {"text": text}
        if found := with_found(text, entities):
            content["entities"] = found
        if quote and reply_to:
            position = utf16_length(reply_to.text[: reply_to.text.index(quote)])
            content["quote"] = {"text": quote, "position": position, "is_manual": True}
        return self.send(sender, chat, content, reply_to, topic, forward_from)

    def send(
        self,
        sender: User | Chat,
        chat: Chat | User,
        content: Json,
        reply_to: Message | None = None,
        topic: int | None = None,
        forward_from: Origin | None = None,
    ) -> Message:
        """Send a message of any kind, as the Bot API writes its content."""
        place = self._open(sender, self.chat(chat))
        if forward_from is not None:
            content = content | {"forward_origin": shapes.origin_shape(forward_from, self.now)}
        return self.deliver(self.api.world.write(place, sender, content, reply_to, topic))

    def _open(self, sender: User | Chat, chat: Chat) -> Chat:
        if chat.migrated_to is not None:
            raise ValueError(f"the group {chat.id} has become {chat.migrated_to}")
        if chat.user:
            if sender is not chat.user or chat.user.blocked:
                raise ValueError("only the person can speak in a private chat, and not while blocking the bot")
            chat.user.started = True
        return chat

    def paste(self, sender: User, chat: Chat | User, text: str) -> list[Message]:
        """Say a long text as Telegram's apps do: in as many messages as it takes."""
        parts, units = [], text.encode("utf-16-le")
        while units:
            size = min(len(units), MOST_PASTED * 2)
            size -= 2 * (0xD8 <= units[size - 1] <= 0xDB)
            parts.append(units[:size].decode("utf-16-le"))
            units = units[size:]
        return [self.say(sender, chat, part) for part in parts]

    def photo(self, sender: User, chat: Chat | User, data: bytes = PIXEL, caption: str = "") -> Message:
        """Send a picture."""
        return self.send(sender, chat, self._photo(data) | _caption(caption))

    def _photo(self, data: bytes) -> Json:
        add = self.api.world.add_file
        return {"photo": shapes.photo_shape(add("s.jpg", "image/jpeg", PIXEL), add("p.jpg", "image/jpeg", data))}

    def album(self, sender: User, chat: Chat | User, pictures: Sequence[bytes], caption: str = "") -> list[Message]:
        """Send pictures together; the first carries the caption."""
        group = {"media_group_id": str(13_000_000_000_000 + self.api.world.number("file"))}
        captions = [caption, *[""] * (len(pictures) - 1)]
        contents = [self._photo(data) | _caption(text) for data, text in zip(pictures, captions, strict=True)]
        return [self.send(sender, chat, content | group) for content in contents]

    def document(
        self,
        sender: User,
        chat: Chat | User,
        name: str,
        data: bytes,
        media_type: str = "text/plain",
        caption: str = "",
        size: int | None = None,
    ) -> Message:
        """Send a file; `size` is what Telegram says its size is."""
        file = self.api.world.add_file(name, media_type, data, size)
        return self.send(sender, chat, {"document": shapes.named_shape(file)} | _caption(caption))

    def voice(self, sender: User, chat: Chat | User, data: bytes, seconds: int = 3, size: int | None = None) -> Message:
        """Send a voice note."""
        file = self.api.world.add_file("voice.oga", "audio/ogg", data, size)
        return self.send(sender, chat, {"voice": shapes.voice_shape(file, seconds)})

    def audio(self, sender: User, chat: Chat | User, name: str, data: bytes, seconds: int = 180) -> Message:
        """Send a piece of music."""
        file = self.api.world.add_file(name, "audio/mpeg", data)
        return self.send(sender, chat, {"audio": shapes.named_shape(file) | {"duration": seconds}})

    def sticker(self, sender: User, chat: Chat | User, emoji: str = "👍") -> Message:
        """Send a sticker."""
        file = self.api.world.add_file("sticker.webp", "image/webp", PIXEL)
        return self.send(sender, chat, {"sticker": shapes.sticker_shape(file, emoji)})

    def location(self, sender: User, chat: Chat | User, latitude: float, longitude: float) -> Message:
        """Send a place."""
        return self.send(sender, chat, {"location": {"latitude": latitude, "longitude": longitude}})

    def contact(self, sender: User, chat: Chat | User, phone: str, name: str) -> Message:
        """Send somebody's number."""
        return self.send(sender, chat, {"contact": {"phone_number": phone, "first_name": name}})

    def poll(self, sender: User, chat: Chat | User, question: str, options: Sequence[str]) -> Message:
        """Send a poll."""
        return self.send(sender, chat, {"poll": shapes.poll_shape(question, list(options))})

    def dice(self, sender: User, chat: Chat | User, value: int = 6) -> Message:
        """Throw a dice."""
        return self.send(sender, chat, {"dice": {"emoji": "🎲", "value": value}})

    def edit(self, message: Message, text: str) -> Message:
        """Let the sender put another text into a message."""
        key = "text" if "text" in message.data else "caption"
        names = {"text": "entities", "caption": "caption_entities"}
        found = with_found(text, [])
        self.api.world.rewrite(message, {key: text} | ({names[key]: found} if found else {}), drop=[names[key]])
        return self.deliver(message, edited=True)

    def delete(self, message: Message) -> None:
        """Let a person take a message away; no bot is told."""
        message.chat.by_id.pop(message.id, None)
        self.api.world.changed.ring()

    def post(self, channel: Chat, text: str) -> Message:
        """Post in a channel; its discussion group gets a copy from Telegram itself. Gives the post."""
        post = self.say(channel, channel, text)
        if channel.linked:
            content = {"text": text, "is_automatic_forward": True, "sender_chat": channel.shape()}
            content["forward_origin"] = shapes.origin_shape(post, self.now)
            self.deliver(self.api.world.write(channel.linked, User(TELEGRAM, "Telegram"), content))
        return post

    def press(self, by: User, message: Message, button: str) -> str:
        """Press a button, named by its label or its data; gives the query's id. Raises LookupError."""
        found = [one for one in message.buttons if button in (one["text"], one.get("callback_data"))]
        if not found:
            raise LookupError(f"there is no button {button!r} in {[one['text'] for one in message.buttons]}")
        return self.press_data(by, message, found[0]["callback_data"])

    def press_data(self, by: User, message: Message, data: str) -> str:
        """Press a button that may be gone by now."""
        query = str(4_000_000_000_000_000_000 + self.api.world.number("message"))
        self.api.world.queries[query] = None
        is_gone = message.id not in message.chat.by_id
        shown = {"chat": message.chat.shape(), "message_id": message.id, "date": 0} if is_gone else message.data
        body: Json = {"id": query, "from": by.shape(), "message": shown, "chat_instance": "-1", "data": data}
        self.api.updates.put("callback_query", body)
        return query


def _caption(text: str) -> Json:
    found = with_found(text, [])
    return ({"caption": text} if text else {}) | ({"caption_entities": found} if found else {})
