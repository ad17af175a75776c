"""What every ConversationStore holds to: what is erased is gone everywhere, and what is exported is complete."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.conversation import Answer, PersonSettings, State
from core.errors import StaleEpoch
from core.messages import PRIVATE
from core.records import Job, Receipt
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, START, Talk, change, fact

MARKER = "zanzibar"


async def test_erasing_a_turn_takes_the_facts_it_taught(store: ConversationStore) -> None:
    talk = Talk(store)
    old, new = await talk.says("I drink tea"), await talk.says(f"and {MARKER}")
    tea, both = fact("drinks", "tea", turn=old), fact("drinks", "tea", turn=old)
    both = replace(tea, items=tea.items + fact("x", MARKER, turn=new).items, many=True)
    city = fact("city", MARKER, turn=new)
    await store.apply(ANN, PRIVATE, [change("1", tea, turn=old)], turn=old)
    await store.apply(ANN, PRIVATE, [change("2", both, tea, turn=new), change("3", city, turn=new)], turn=new)
    receipt = await store.erase_turn(PRIVATE_CHAT, new.id)
    assert receipt.counts == {"turns": 1, "facts": 1, "items": 1, "changes": 2}
    assert dict((await talk.loaded()).facts) == {"drinks": ["tea"]}
    assert [c.call for c in await store.changes(ANN, PRIVATE)] == ["1"]
    assert await store.holds(MARKER) == []


async def test_erasing_a_turn_takes_history_that_still_shows_its_words(store: ConversationStore) -> None:
    talk = Talk(store)
    said, corrected = await talk.says(MARKER), await talk.says("no, Rome")
    wrong, right = fact("city", MARKER, turn=said), fact("city", "Rome", turn=corrected)
    await store.apply(ANN, PRIVATE, [change("1", wrong, turn=said)])
    await store.apply(ANN, PRIVATE, [change("2", right, wrong, turn=corrected)])
    await store.erase_turn(PRIVATE_CHAT, said.id)
    assert dict((await talk.loaded()).facts) == {"city": "Rome"}
    assert await store.changes(ANN, PRIVATE) == []
    assert await store.holds(MARKER) == []


async def test_erasing_a_turn_discards_what_still_runs(store: ConversationStore) -> None:
    talk = Talk(store)
    said, running = await talk.says("one"), await talk.opens("two")
    before = await talk.loaded()
    await store.erase_turn(PRIVATE_CHAT, said.id)
    after = await talk.loaded()
    assert (after.edition, after.epoch) == (before.edition + 1, before.epoch + 1)
    with pytest.raises(StaleEpoch):
        await store.save(replace(running, state=State.ANSWERED, answer=Answer("late")))


async def test_erasing_a_turn_takes_its_jobs_and_no_others(store: ConversationStore) -> None:
    turn = await Talk(store).says("one")
    for key in (str(turn.id), f"{turn.id}#again", f"{turn.id}0", str(PRIVATE_CHAT)):
        await store.enqueue(Job("look", key, START))
    assert (await store.erase_turn(PRIVATE_CHAT, turn.id)).counts == {"turns": 1, "jobs": 2}
    left = await store.claim("me", START, lease=9, limit=9)
    assert {job.key for job in left} == {f"{turn.id}0", str(PRIVATE_CHAT)}


async def test_an_erased_message_is_still_seen_as_a_duplicate(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.says("one")
    await store.erase_turn(PRIVATE_CHAT, turn.id)
    assert not await store.receive(turn.message)
    assert await store.waiting() == []
    with pytest.raises(StaleEpoch):
        await store.begin(turn.messages, state=State.RECEIVED, tokens=1, at=START)


async def test_an_unknown_turn_gives_an_empty_receipt(store: ConversationStore) -> None:
    turn = await Talk(store).says("one")
    assert await store.erase_turn(GROUP, turn.id) == Receipt({})
    assert await store.erase_turn(PRIVATE_CHAT, turn.id + 1) == Receipt({})
    assert (await store.load(PRIVATE_CHAT)).edition == 0


async def test_a_message_is_found_whether_it_waits_or_a_turn_has_it(store: ConversationStore) -> None:
    talk = Talk(store)
    taken, waiting = await talk.says("one"), await talk.arrives("two", BOB)
    assert await store.said(PRIVATE_CHAT, taken.message.id) == taken.message
    assert await store.said(PRIVATE_CHAT, waiting.id) == waiting
    assert await store.said(GROUP, waiting.id) is None
    assert await store.said(PRIVATE_CHAT, "\0") is None


async def test_erasing_a_message_takes_its_turn_or_the_waiting_words(store: ConversationStore) -> None:
    talk = Talk(store)
    kept, taken, waiting = await talk.says("one"), await talk.says(MARKER), await talk.arrives(MARKER)
    assert await store.erase_message(GROUP, taken.message.id) == Receipt({})
    assert (await store.erase_message(PRIVATE_CHAT, taken.message.id)).counts == {"turns": 1}
    assert (await store.erase_message(PRIVATE_CHAT, waiting.id)).counts == {"messages": 1}
    assert await store.holds(MARKER) == []
    for id_ in (taken.message.id, waiting.id):
        assert await store.said(PRIVATE_CHAT, id_) is None
        assert await store.erase_message(PRIVATE_CHAT, id_) == Receipt({})
    assert [turn.id for turn in (await talk.loaded()).turns] == [kept.id]


async def test_a_message_is_erased_though_its_key_has_expired(store: ConversationStore) -> None:
    turn = await Talk(store).says(MARKER)
    await store.expire(START.replace(year=2030), keep_days=1)
    assert (await store.erase_message(PRIVATE_CHAT, turn.message.id)).counts == {"turns": 1}


async def test_erasing_a_fact_takes_its_history(store: ConversationStore) -> None:
    made = [change("1", fact("city", MARKER)), change("2", fact("city", "Rome"), fact("city", MARKER))]
    await store.apply(ANN, PRIVATE, [*made, change("3", fact("name", "Ann"))])
    await store.apply(ANN, GROUP.scope, [change("4", fact("city", "Oslo"))])
    assert (await store.erase_fact(ANN, PRIVATE, "city")).counts == {"facts": 1, "changes": 2}
    assert await store.erase_fact(ANN, PRIVATE, "city") == Receipt({})
    assert await store.holds(MARKER) == []
    assert await store.scopes(ANN) == sorted([PRIVATE, GROUP.scope])
    assert list((await store.load(PRIVATE_CHAT, ANN)).facts) == ["name"]


async def test_erasing_a_chat_leaves_the_bare_keys(store: ConversationStore) -> None:
    talk, other = Talk(store), Talk(store, GROUP)
    turns = [await talk.says(f"{MARKER} {n}") for n in range(4)]
    elsewhere = await other.says("hello", ANN)
    await talk.folds(0, 1, MARKER)
    waits = await talk.arrives(MARKER)
    await store.apply(ANN, PRIVATE, [change("1", fact("city", MARKER, turn=turns[0]), turn=turns[0])])
    await store.apply(ANN, PRIVATE, [change("2", fact("name", "Ann", turn=elsewhere), turn=elsewhere)])
    await store.enqueue(Job("fold", str(PRIVATE_CHAT), START))
    receipt = await store.erase_chat(PRIVATE_CHAT)
    assert receipt.counts == {"turns": 4, "segments": 1, "facts": 1, "changes": 1, "messages": 1, "jobs": 1}
    assert await store.holds(MARKER) == []
    conversation = await talk.loaded()
    assert (conversation.path, conversation.head) == ((), None)
    assert (conversation.epoch, conversation.edition) == (1, 1)
    assert dict(conversation.facts) == {"name": "Ann"}
    assert [info.chat for info in await store.chats()] == [GROUP]
    assert not await store.receive(waits)
    assert (await talk.says("a new beginning")).parent is None


async def test_items_imported_from_a_chat_go_with_it(store: ConversationStore) -> None:
    item = fact("city", MARKER).items[0]
    imported = replace(fact("city", MARKER), items=(replace(item, source=replace(item.source, chat=str(GROUP))),))
    await store.apply(ANN, PRIVATE, [change("1", imported)])
    await store.erase_chat(PRIVATE_CHAT)
    assert await store.holds(MARKER) == ["change", "fact"]
    await store.erase_chat(GROUP)
    assert await store.holds(MARKER) == []


async def a_life(store: ConversationStore) -> tuple[Talk, Talk]:
    """Ann in her private chat and in a group with Bob, with everything that is kept of her."""
    private, group = Talk(store), Talk(store, GROUP)
    for n in range(4):
        await private.says(f"{MARKER} {n}")
    await private.folds(0, 1, MARKER)
    bob = await group.says("I am Bob", BOB)
    turn = await group.says(MARKER, ANN)
    await group.folds(0, 1, MARKER)
    await group.says("what did Ann say?", BOB)
    await private.arrives(MARKER)
    await group.arrives(MARKER, ANN)
    await store.apply(ANN, PRIVATE, [change("1", fact("city", MARKER))])
    await store.apply(ANN, GROUP.scope, [change("2", fact("city", MARKER, turn=turn), turn=turn)])
    await store.apply(BOB, GROUP.scope, [change("3", fact("name", "Bob", turn=bob), turn=bob)])
    await store.choose(ANN, lambda _: PersonSettings(language=MARKER))
    await store.enqueue(Job("look", f"{ANN}#{MARKER}", START))
    return private, group


async def test_erasing_a_person_leaves_nothing_of_them_and_all_of_others(store: ConversationStore) -> None:
    private, group = await a_life(store)
    running = await group.opens("is she there?", BOB)
    assert {"change", "fact", "inbox", "job", "person", "segment", "turn"} <= set(await store.holds(MARKER))
    receipt = await store.erase_person(ANN)
    assert receipt.counts == {
        "turns": 5, "segments": 2, "facts": 2, "changes": 2, "messages": 2, "settings": 1, "jobs": 1,
    }  # fmt: skip
    assert await store.holds(MARKER) == []
    assert MARKER not in json.dumps(await store.export(ANN))
    assert [t.message.text for t in (await group.loaded(BOB)).turns] == [
        "I am Bob", "what did Ann say?", "is she there?",
    ]  # fmt: skip
    assert dict((await group.loaded(BOB)).facts) == {"name": "Bob"}
    assert (await private.loaded()).path == ()
    with pytest.raises(StaleEpoch):
        await store.save(replace(running, state=State.ANSWERED, answer=Answer(MARKER)))
    assert (await store.erase_person(ANN)).total == 0


async def test_an_answer_still_being_written_is_not_written_back(store: ConversationStore) -> None:
    running = await Talk(store).opens(MARKER)
    await store.erase_person(ANN)
    late = replace(running, state=State.ANSWERED, answer=Answer(MARKER))
    with pytest.raises(StaleEpoch):
        await store.save(late)
    with pytest.raises(StaleEpoch):
        await store.apply(ANN, PRIVATE, [change("1", fact("city", MARKER), turn=late)], turn=late)
    await store.progress(late.id, chunk=1, preview=MARKER, state=State.DELIVERED)
    assert await store.holds(MARKER) == []


async def test_an_export_holds_everything_kept_of_a_person_and_nothing_of_others(store: ConversationStore) -> None:
    await a_life(store)
    export = json.loads(json.dumps(await store.export(ANN)))
    assert export["schema"] == "keepmind/export/1"
    assert export["person"] == "telegram:5000000000"
    assert export["settings"]["language"] == MARKER
    assert {scope: [f["key"] for f in facts] for scope, facts in export["facts"].items()} == {
        PRIVATE: ["city"], GROUP.scope: ["city"],
    }  # fmt: skip
    assert {scope: len(log) for scope, log in export["changes"].items()} == {PRIVATE: 1, GROUP.scope: 1}
    assert len(export["waiting"]) == 2
    group, private = export["chats"]
    assert (group["chat"], len(group["turns"]), group["segments"]) == (str(GROUP), 1, [])
    assert (private["chat"], len(private["turns"])) == (str(PRIVATE_CHAT), 4)
    assert [s["text"] for s in private["segments"]] == [MARKER]
    assert private["turns"][0]["answer"]["text"] == f"answer to {MARKER} 0"
    assert "Bob" not in json.dumps(export)


async def test_the_export_of_a_stranger_is_empty(store: ConversationStore) -> None:
    export = await store.export(BOB)
    assert (export["facts"], export["changes"], export["waiting"], export["chats"]) == ({}, {}, [], [])


@pytest.mark.parametrize("text", ['say "hi"', "line\nbreak", "100%_sure", "C:\\temp", "Zürich 👋", "x" * 60_000])
async def test_any_text_is_found_where_it_is(store: ConversationStore, text: str) -> None:
    await Talk(store).opens(f"before {text} after")
    assert await store.holds(text) == ["turn"]
    assert await store.holds(text.upper() + "!") == []


async def test_nothing_holds_the_empty_text(store: ConversationStore) -> None:
    await Talk(store).says("hello")
    assert await store.holds("") == []
