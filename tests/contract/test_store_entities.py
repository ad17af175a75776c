"""What every ConversationStore holds to: names lead to the turns that speak of them, in their chat alone."""

from __future__ import annotations

from core.conversation import State, Turn
from core.messages import ChatKey
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, Talk

OTHER = ChatKey("telegram", "5000000009")


async def says(talk: Talk, text: str, *names: str) -> Turn:
    turn = await talk.says(text)
    await talk.store.name(talk.chat, {turn.id: names})
    return turn


async def named(store: ConversationStore, text: str, chat: ChatKey = PRIVATE_CHAT, limit: int = 9) -> list[str]:
    found = await store.named(chat, text, limit=limit, without=frozenset())
    return [turn.message.text for turn in found]


async def test_a_name_leads_to_the_turns_that_speak_of_it_newest_first(store: ConversationStore) -> None:
    talk = Talk(store)
    await says(talk, "Anna came", "Anna")
    await says(talk, "it rained")
    await says(talk, "Anna and Bob left", "Anna", "Bob")
    assert await named(store, "where are anna and Bob?") == ["Anna and Bob left", "Anna came"]
    assert await named(store, "where is Carl?") == []
    assert await named(store, "Anna", limit=1) == ["Anna and Bob left"]


async def test_a_name_is_known_however_it_is_written(store: ConversationStore) -> None:
    talk = Talk(store)
    await says(talk, "one", "Saint Petersburg")
    await says(talk, "two", "Маша")
    await says(talk, "three", "小白")
    await says(talk, "four", "José")
    assert await named(store, "SAINT PETERSBURG'S bridges") == ["one"]
    assert await named(store, "я видел Машу") == ["two"]
    assert await named(store, "我的猫小白在哪里") == ["three"]
    assert await named(store, "and jose?") == ["four"]


async def test_names_are_looked_for_once_in_every_turn_that_is_told(store: ConversationStore) -> None:
    talk = Talk(store)
    first, second, _ = await talk.says("one"), await talk.says("two"), await talk.opens("three")
    assert [turn.id for turn in await store.unnamed(PRIVATE_CHAT, limit=1)] == [first.id]
    await store.name(PRIVATE_CHAT, {first.id: ()})
    assert [turn.id for turn in await store.unnamed(PRIVATE_CHAT, limit=9)] == [second.id]
    await store.name(PRIVATE_CHAT, {second.id: ["Anna"], 999: ["Anna"]})
    assert await store.unnamed(PRIVATE_CHAT, limit=9) == []


async def test_names_are_looked_for_again_after_an_edit(store: ConversationStore) -> None:
    turn = await says(Talk(store), "Zanzibar", "Zanzibar")
    await store.edit(PRIVATE_CHAT, turn.message.id, "Rome")
    assert await named(store, "Zanzibar") == []
    assert [t.message.text for t in await store.unnamed(PRIVATE_CHAT, limit=9)] == ["Rome"]
    assert "Zanzibar" not in str(await store.export(ANN)).replace("answer to Zanzibar", "")


async def test_a_name_leads_nowhere_else(store: ConversationStore) -> None:
    for chat in (PRIVATE_CHAT, OTHER, GROUP):
        await says(Talk(store, chat), f"Anna of {chat}", "Anna")
    for chat in (PRIVATE_CHAT, OTHER, GROUP):
        assert await named(store, "Anna", chat) == [f"Anna of {chat}"]


async def test_names_go_with_their_turns(store: ConversationStore) -> None:
    talk = Talk(store)
    first, second = await says(talk, "one", "Zanzibar"), await says(talk, "two", "Zanzibar")
    await store.erase_turn(PRIVATE_CHAT, first.id)
    assert await named(store, "Zanzibar") == ["two"]
    await store.erase_person(ANN)
    assert await named(store, "Zanzibar") == []
    assert await store.holds("Zanzibar") == []
    assert second.state is State.DELIVERED


async def test_names_move_with_their_chat(store: ConversationStore) -> None:
    old, new = ChatKey("telegram", "-100"), ChatKey("telegram", "-1001")
    await says(Talk(store, old), "one", "Anna")
    await store.move_chat(old, new)
    assert await named(store, "Anna", new) == ["one"]
    assert await named(store, "Anna", old) == []


async def test_an_export_tells_the_names_that_ones_own_turns_speak_of(store: ConversationStore) -> None:
    private, group = Talk(store), Talk(store, GROUP)
    mine = await says(private, "one", "Anna")
    own, others = await group.says("two", ANN), await group.says("three", BOB)
    await store.name(GROUP, {own.id: ["Rex"], others.id: ["Rex", "Zoe"]})
    told = {chat["chat"]: chat["entities"] for chat in (await store.export(ANN))["chats"]}
    assert told == {str(PRIVATE_CHAT): {"Anna": [mine.id]}, str(GROUP): {"Rex": [own.id]}}


async def test_a_branch_that_was_left_is_not_named(store: ConversationStore) -> None:
    talk = Talk(store)
    await says(talk, "Anna came", "Anna")
    await says(talk, "Anna left", "Anna")
    here = await talk.loaded()
    await store.move_head(here, here.turns[0].id, asides=[])
    await says(talk, "Bob came", "Bob")
    assert await named(store, "Anna and Bob") == ["Bob came", "Anna came"]
