"""Keepmind's core: a message in, a reply out, and a memory between them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.adapter import Adapter, Outgoing
    from core.bot import Bot, Ports, build
    from core.commands.command import Command, Context, FactKey, command
    from core.conversation import Conversation, Segment, Turn
    from core.engine import Engine
    from core.errors import CommandError, KeepmindError, ToolError
    from core.memory.archive import Archive
    from core.memory.buffer import Buffer
    from core.memory.entities import Entities
    from core.memory.keepmind import Keepmind
    from core.memory.memory import Compaction, Memory
    from core.memory.none import NoHistory
    from core.memory.profile import Profile
    from core.memory.recent import TokenWindow, Window
    from core.memory.summary_buffer import Summary, SummaryBuffer
    from core.memory.tree import Tree
    from core.messages import Attachment, ChatKey, Choice, Message, Person, Quote, Reply
    from core.personas import Persona
    from core.prompt import Prompt
    from core.tools import Tool, ToolContext, tool
    from core.topics import Topics

_HOMES = {
    "Adapter": "core.adapter",
    "Archive": "core.memory.archive",
    "Attachment": "core.messages",
    "Bot": "core.bot",
    "Buffer": "core.memory.buffer",
    "ChatKey": "core.messages",
    "Choice": "core.messages",
    "Command": "core.commands.command",
    "CommandError": "core.errors",
    "Compaction": "core.memory.memory",
    "Context": "core.commands.command",
    "Conversation": "core.conversation",
    "Engine": "core.engine",
    "Entities": "core.memory.entities",
    "FactKey": "core.commands.command",
    "Keepmind": "core.memory.keepmind",
    "KeepmindError": "core.errors",
    "Memory": "core.memory.memory",
    "Message": "core.messages",
    "NoHistory": "core.memory.none",
    "Outgoing": "core.adapter",
    "Person": "core.messages",
    "Persona": "core.personas",
    "Ports": "core.bot",
    "Profile": "core.memory.profile",
    "Prompt": "core.prompt",
    "Quote": "core.messages",
    "Reply": "core.messages",
    "Segment": "core.conversation",
    "Summary": "core.memory.summary_buffer",
    "SummaryBuffer": "core.memory.summary_buffer",
    "TokenWindow": "core.memory.recent",
    "Tool": "core.tools",
    "ToolContext": "core.tools",
    "ToolError": "core.errors",
    "Topics": "core.topics",
    "Tree": "core.memory.tree",
    "Turn": "core.conversation",
    "Window": "core.memory.recent",
    "build": "core.bot",
    "command": "core.commands.command",
    "tool": "core.tools",
}
"""Where each public name lives; it is imported when first asked for, so that a light command stays light."""

__all__ = [
    "Adapter",
    "Archive",
    "Attachment",
    "Bot",
    "Buffer",
    "ChatKey",
    "Choice",
    "Command",
    "CommandError",
    "Compaction",
    "Context",
    "Conversation",
    "Engine",
    "Entities",
    "FactKey",
    "Keepmind",
    "KeepmindError",
    "Memory",
    "Message",
    "NoHistory",
    "Outgoing",
    "Person",
    "Persona",
    "Ports",
    "Profile",
    "Prompt",
    "Quote",
    "Reply",
    "Segment",
    "Summary",
    "SummaryBuffer",
    "TokenWindow",
    "Tool",
    "ToolContext",
    "ToolError",
    "Topics",
    "Tree",
    "Turn",
    "Window",
    "build",
    "command",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
