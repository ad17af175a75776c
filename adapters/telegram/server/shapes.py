"""How the Bot API writes members, origins of forwards, and what a message can hold beside text."""

from __future__ import annotations

from adapters.telegram.server.refusals import Json
from adapters.telegram.server.world import Chat, File, Message, User

_RIGHTS = [
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
]
_PERMISSIONS = [
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
    "can_react_to_messages",
    "can_edit_tag",
]


def member_shape(user: User, status: str) -> Json:
    """Write what somebody is in a chat."""
    more: dict[str, Json] = {
        "creator": {"is_anonymous": False},
        "administrator": {"can_be_edited": False, "is_anonymous": False, **dict.fromkeys(_RIGHTS, True)},
        "restricted": {"is_member": True, "until_date": 0, **dict.fromkeys(_PERMISSIONS, False)},
        "kicked": {"until_date": 0},
    }
    return {"user": user.shape(), "status": status, **more.get(status, {})}


def member_change(chat: Chat, by: User, user: User, old: str, new: str, date: int) -> Json:
    """Write that somebody became something else in a chat."""
    return {
        "chat": chat.shape(),
        "from": by.shape(),
        "date": date,
        "old_chat_member": member_shape(user, old),
        "new_chat_member": member_shape(user, new),
    }


def origin_shape(origin: User | Chat | Message | str, date: int) -> Json:
    """Write where a forwarded message comes from; a text is the name of somebody who hides."""
    if isinstance(origin, str):
        return {"type": "hidden_user", "sender_user_name": origin, "date": date}
    if isinstance(origin, User):
        return {"type": "user", "sender_user": origin.shape(), "date": date}
    if isinstance(origin, Message):
        return {"type": "channel", "chat": origin.chat.shape(), "message_id": origin.id, "date": date}
    if origin.type == "channel":
        return {"type": "channel", "chat": origin.shape(), "message_id": 1, "date": date}
    return {"type": "chat", "sender_chat": origin.shape(), "date": date}


def photo_shape(small: File, file: File) -> list[Json]:
    """Write a picture in its sizes, the largest last."""
    return [small.shape() | {"width": 90, "height": 67}, file.shape() | {"width": 1280, "height": 960}]


def named_shape(file: File) -> Json:
    """Write a document."""
    return file.shape() | {"file_name": file.name, "mime_type": file.media_type}


def voice_shape(file: File, seconds: int) -> Json:
    """Write a voice note."""
    return file.shape() | {"duration": seconds, "mime_type": file.media_type}


def sticker_shape(file: File, emoji: str) -> Json:
    """Write a sticker."""
    size = {"width": 512, "height": 512, "is_animated": False, "is_video": False}
    return file.shape() | size | {"type": "regular", "emoji": emoji}


def poll_shape(question: str, options: list[str]) -> Json:
    """Write a poll."""
    counted = [{"text": option, "voter_count": 0, "persistent_id": str(index)} for index, option in enumerate(options)]
    flags = {
        "is_closed": False,
        "is_anonymous": True,
        "allows_multiple_answers": False,
        "allows_revoting": True,
        "members_only": False,
    }
    return {"id": "1", "question": question, "options": counted, "total_voter_count": 0, "type": "regular", **flags}
