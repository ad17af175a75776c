"""What every ConversationStore holds to: the inbox, turns, and the conversation they make."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from core.conversation import Answer, PersonSettings, State, ToolResult, ToolRound
from core.errors import StaleEpoch
from core.llm import ToolCall
from core.messages import Attachment, ChatKey, Person, Quote
from core.records import Job, Unfinished
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, START, Talk, message


async def test_a_message_is_stored_once_by_its_exact_key(store: ConversationStore) -> None:
    assert await store.receive(message("hello", "1"))
    assert not await store.receive(message("hello again", "1"))
    assert await store.receive(message("hello", "1", chat=GROUP))
    assert await store.receive(message("hello", "1", chat=replace(GROUP, topic=None)))
    assert await store.receive(message("an older id", "0"))
    assert len(await store.waiting()) == 4


async def test_a_message_received_many_times_at_once_is_new_once(store: ConversationStore) -> None:
    answers = await asyncio.gather(*(store.receive(message("hello", "1")) for _ in range(20)))
    assert answers.count(True) == 1


async def test_a_bare_key_waits_for_nothing_and_is_still_seen(store: ConversationStore) -> None:
    assert await store.receive(message("/help", "1"), keep=False)
    assert await store.waiting() == []
    assert not await store.receive(message("/help", "1"))
    assert await store.holds("/help") == []


async def test_messages_wait_in_the_order_received_over_all_chats(store: ConversationStore) -> None:
    arrived = [message("b", "9"), message("a", "1", chat=GROUP), message("c", "2", minute=-5)]
    for one in arrived:
        await store.receive(one)
    assert await store.waiting() == arrived


async def test_a_message_comes_back_as_it_was(store: ConversationStore) -> None:
    whole = replace(
        message('Grüße 👋🏽 \\ "quoted" \x07', "1"),
        attachments=(Attachment("image", "a.png", "image/png", "a cat", b"\xff\x00\x80"),),
        quote=Quote("Bob", "you said", own=True),
        forwarded="News",
        anonymous=True,
        language="de",
    )
    await store.receive(whole)
    assert await store.waiting() == [whole]


async def test_begin_takes_the_messages_into_a_turn_at_the_head(store: ConversationStore) -> None:
    talk = Talk(store)
    first = await talk.says("one")
    burst = [await talk.arrives("two"), await talk.arrives("three")]
    turn = await store.begin(burst, state=State.HEARD, tokens=9, at=START)
    assert (turn.parent, turn.state, turn.tokens, turn.at) == (first.id, State.HEARD, 9, START)
    assert turn.messages == tuple(burst)
    assert await store.waiting() == []
    conversation = await talk.loaded()
    assert conversation.head == turn.id
    assert conversation.turns[-1] == turn == await store.turn(turn.id)


async def test_begin_refuses_whole_when_one_message_is_taken(store: ConversationStore) -> None:
    talk = Talk(store)
    taken, fresh = await talk.arrives("one"), await talk.arrives("two")
    await store.begin([taken], state=State.RECEIVED, tokens=1, at=START)
    with pytest.raises(StaleEpoch):
        await store.begin([fresh, taken], state=State.RECEIVED, tokens=1, at=START)
    assert await store.waiting() == [fresh]
    assert len((await talk.loaded()).turns) == 1


@pytest.mark.parametrize("keep", [True, False])
async def test_begin_refuses_what_was_never_received_or_does_not_wait(store: ConversationStore, keep: bool) -> None:
    unknown = message("hello", "1")
    if not keep:
        await store.receive(unknown, keep=False)
    with pytest.raises(StaleEpoch):
        await store.begin([unknown], state=State.RECEIVED, tokens=1, at=START)
    assert (await store.stats()).turns == 0


async def test_open_begins_and_loads_with_the_new_turn_last(store: ConversationStore) -> None:
    talk = Talk(store)
    await store.choose(ANN, lambda _: PersonSettings(memory="ask"))
    await talk.says("one")
    arrived = await talk.arrives("two")
    conversation, turn = await store.open([arrived], tokens=7, at=arrived.sent_at)
    assert turn.state is State.RECEIVED
    assert conversation.path[-1] == turn
    assert conversation == await talk.loaded()
    assert conversation.settings == PersonSettings(memory="ask")


async def test_a_message_edited_while_it_waited_is_taken_as_edited(store: ConversationStore) -> None:
    arrived = await Talk(store).arrives("helo")
    assert await store.edit(PRIVATE_CHAT, "1", "hello")
    _, turn = await store.open([arrived], tokens=1, at=START)
    assert turn.message.text == "hello"
    assert await store.turn(turn.id) == turn
    assert await store.holds("helo") == []


async def test_an_unknown_chat_is_an_empty_one(store: ConversationStore) -> None:
    conversation = await store.load(GROUP, ANN, private=False)
    assert (conversation.path, conversation.head, conversation.scope) == ((), None, GROUP.scope)
    assert await store.chats() == []


async def test_topics_and_chats_are_conversations_of_their_own(store: ConversationStore) -> None:
    await Talk(store, GROUP).says("in topic 17")
    assert (await store.load(replace(GROUP, topic="18"))).path == ()
    assert (await store.load(replace(GROUP, topic=None))).path == ()


async def test_a_chat_known_as_a_group_never_shows_private_facts(store: ConversationStore) -> None:
    await Talk(store, GROUP).says("hello")
    assert (await store.load(GROUP, ANN, private=True)).scope == GROUP.scope


async def test_save_stores_what_the_turn_has_become(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.opens("what is 2+2?")
    rounds = (ToolRound((ToolCall("c1", "add", '{"a":2}'),), (ToolResult("c1", "4"),), "let me see"),)
    become = replace(
        turn, state=State.ANSWERED, rounds=rounds, answer=Answer("4", "length", "gpt"), tokens=31, chunk=1,
        preview="77", failure="slow",
    )  # fmt: skip
    await store.save(become, jobs=[Job("fold", str(PRIVATE_CHAT), START)])
    assert await store.turn(turn.id) == become
    assert (await talk.loaded()).turns == [become]
    assert [job.kind for job in await store.claim("me", START, lease=9, limit=9)] == ["fold"]


async def test_a_save_of_an_older_epoch_is_discarded_with_its_jobs(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.opens("tell me a story")
    assert await store.raise_epoch(PRIVATE_CHAT) == turn.epoch + 1
    late = replace(turn, state=State.ANSWERED, answer=Answer("once upon a time"))
    with pytest.raises(StaleEpoch):
        await store.save(late, jobs=[Job("fold", "x", START)])
    assert (await talk.loaded()).turns == [turn]
    assert (await store.stats()).jobs == 0
    await store.save(replace(turn, state=State.FAILED, failure="stopped", epoch=turn.epoch + 1))
    assert (await talk.loaded()).turns[0].failure == "stopped"


async def test_a_save_of_an_erased_turn_is_discarded(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.opens("secret")
    await store.erase_turn(PRIVATE_CHAT, turn.id)
    with pytest.raises(StaleEpoch):
        await store.save(replace(turn, epoch=turn.epoch + 1))
    with pytest.raises(StaleEpoch):
        await store.save(replace(turn, id=999))


async def test_the_epoch_of_an_unknown_chat_can_be_raised(store: ConversationStore) -> None:
    assert await store.raise_epoch(GROUP) == 1
    assert (await store.load(GROUP)).epoch == 1
    turn = await Talk(store, GROUP).says("hello")
    assert turn.epoch == 1


async def test_bytes_are_kept_until_the_turn_is_answered(store: ConversationStore) -> None:
    picture = replace(message("look", "1"), attachments=(Attachment("image", "a.png", data=b"\xff\xd8"),))
    await store.receive(picture)
    _, turn = await store.open([picture], tokens=1, at=START)
    await store.save(replace(turn, preview="5"))
    (kept,) = await store.open_turns()
    assert kept.message.attachments[0].data == b"\xff\xd8"
    await store.save(replace(turn, state=State.ANSWERED, answer=Answer("a cat")))
    (light,) = (await store.load(PRIVATE_CHAT)).turns
    assert light.message.attachments == (Attachment("image", "a.png"),)
    assert await store.turn(turn.id) == light


async def test_what_is_only_heard_keeps_no_bytes(store: ConversationStore) -> None:
    picture = replace(message("look", "1"), attachments=(Attachment("image", "a.png", data=b"\xff\xd8"),))
    await store.receive(picture)
    turn = await store.begin([picture], state=State.HEARD, tokens=1, at=START)
    assert turn.message.attachments[0].data == b""
    assert await store.turn(turn.id) == turn


async def test_progress_notes_how_far_the_delivery_has_come(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.opens("hello")
    answered = replace(turn, state=State.ANSWERED, answer=Answer("long"))
    await store.save(answered)
    await store.progress(turn.id, chunk=2, preview="88", state=State.ANSWERED)
    come = replace(answered, chunk=2, preview="88")
    assert await store.turn(turn.id) == come == (await talk.loaded()).turns[0]


async def test_progress_of_an_erased_turn_is_left_alone(store: ConversationStore) -> None:
    turn = await Talk(store).opens("hello")
    await store.erase_turn(PRIVATE_CHAT, turn.id)
    await store.progress(turn.id, chunk=1, preview="", state=State.DELIVERED)
    assert await store.turn(turn.id) is None


async def test_the_id_of_an_erased_turn_is_never_given_again(store: ConversationStore) -> None:
    talk = Talk(store)
    erased = await talk.says("one")
    await store.erase_turn(PRIVATE_CHAT, erased.id)
    assert (await talk.says("two")).id > erased.id


async def test_what_waits_and_what_is_open_can_be_asked_of_one_chat(store: ConversationStore) -> None:
    talk, group = Talk(store), Talk(store, GROUP)
    opened, waiting = await talk.opens("one"), await talk.arrives("two")
    other, elsewhere = await group.opens("three"), await group.arrives("four")
    assert (await store.open_turns(PRIVATE_CHAT), await store.waiting(PRIVATE_CHAT)) == ([opened], [waiting])
    assert (await store.open_turns(GROUP), await store.waiting(GROUP)) == ([other], [elsewhere])
    assert (await store.open_turns(ChatKey("x", "y")), await store.waiting(ChatKey("x", "y"))) == ([], [])


async def test_what_is_unfinished_is_named_by_chat_the_oldest_first(store: ConversationStore) -> None:
    talk, group, third = Talk(store), Talk(store, GROUP), ChatKey("telegram", "9")
    done, older = await talk.says("done"), await group.opens("open")
    await store.receive(message("bare", "1", chat=third), keep=False)
    waiting = [message("b", "9", chat=third), message("a", "7"), message("c", "2", chat=third), message("d", "8")]
    for one in waiting:
        await store.receive(one)
    assert done.id < older.id
    found = await store.unfinished()
    assert list(found.items()) == [
        (GROUP, Unfinished(1, [])),
        (third, Unfinished(0, ["9", "2"])),
        (PRIVATE_CHAT, Unfinished(0, ["7", "8"])),
    ]


async def test_a_turn_still_to_be_answered_takes_in_more_messages_as_they_are_stored(store: ConversationStore) -> None:
    talk = Talk(store)
    await talk.says("before")
    turn, (second, third, erased) = await talk.opens("one"), [await talk.arrives(f"{n}") for n in range(3)]
    await store.edit(PRIVATE_CHAT, second.id, "edited")
    await store.erase_message(PRIVATE_CHAT, erased.id)
    joined = await store.join(turn, [second, replace(third, incognito=True), erased], tokens=5, at=START)
    assert joined is not None
    assert [(m.text, m.incognito) for m in joined.messages] == [("one", False), ("edited", False), ("1", True)]
    assert (joined.id, joined.tokens, joined.state) == (turn.id, turn.tokens + 5, State.RECEIVED)
    assert joined == await store.turn(turn.id) == (await talk.loaded()).turns[-1]
    assert await store.waiting() == []
    assert await store.join(joined, [second], tokens=0, at=START) == joined
    assert not await store.receive(third)


async def test_only_the_last_turn_of_a_chat_takes_in_more(store: ConversationStore) -> None:
    talk = Talk(store)
    answered, first, last = await talk.says("zero"), await talk.opens("one"), await talk.opens("two")
    later = await talk.arrives("three")
    for turn in (answered, first, replace(last, id=999)):
        assert await store.join(turn, [later], tokens=1, at=START) is None
    await store.move_head(await talk.loaded(), last.id, asides=[last.id])
    assert await store.join(last, [later], tokens=1, at=START) is None, "what is said next is said aside"
    await store.move_head(await talk.loaded(), last.id, asides=[])
    again = await store.retry(await talk.loaded(), last, tokens=1, at=START)
    assert await store.join(again, [later], tokens=1, at=START) is None, "two turns hold what it holds"
    assert await store.waiting() == [later]


async def test_what_waits_is_in_the_order_received_whatever_the_clocks_say(store: ConversationStore) -> None:
    arrived = [message(f"{n}", f"{n}", minute=minute) for n, minute in enumerate([0, 1440, -1440, 60, -60])]
    for one in arrived:
        await store.receive(one)
    assert await store.waiting() == arrived


async def test_a_job_put_off_or_held_by_a_clock_that_was_put_back_since_is_due(store: ConversationStore) -> None:
    day, hour = START + timedelta(days=1), timedelta(hours=1)
    await store.enqueue(Job("fold", "1", day))
    await store.enqueue(Job("fold", "2", START + hour))
    await store.enqueue(Job("fold", "3", START))
    held = await store.claim("dead", day, lease=60, limit=9)
    assert len(held) == 3
    assert [job.key for job in await store.claim("me", START, lease=60, limit=9)] == ["3", "1"]
    assert await store.claim("other", START, lease=60, limit=9) == []
    assert [job.key for job in await store.claim("me", START + hour, lease=60, limit=9)] == ["3", "2", "1"]


async def test_open_turns_are_those_not_delivered_oldest_first(store: ConversationStore) -> None:
    talk, group = Talk(store), Talk(store, GROUP)
    first = await talk.opens("one")
    heard = await group.arrives("chatter")
    await store.begin([heard], state=State.HEARD, tokens=1, at=START)
    await talk.says("two")
    answered = replace(await group.opens("three", BOB), state=State.ANSWERED, answer=Answer("3"))
    await store.save(answered)
    failed = replace(await talk.opens("four"), state=State.FAILED, failure="down")
    await store.save(failed)
    assert await store.open_turns() == [first, answered]


async def test_twenty_parallel_messages_of_one_chat_make_twenty_turns_in_a_line(store: ConversationStore) -> None:
    talk = Talk(store)
    await asyncio.gather(*(talk.says(f"message {n}") for n in range(20)))
    turns = (await talk.loaded()).turns
    assert {turn.message.text for turn in turns} == {f"message {n}" for n in range(20)}
    assert [turn.parent for turn in turns] == [None, *(turn.id for turn in turns[:-1])]
    assert all(turn.answer for turn in turns)


async def test_fifty_writers_in_fifty_chats_lose_nothing(store: ConversationStore) -> None:
    async def live(n: int) -> None:
        talk = Talk(store, ChatKey("telegram", str(n)))
        for word in ("one", "two", "three"):
            await talk.says(word, Person("telegram", str(n)))

    await asyncio.gather(*(live(n) for n in range(50)))
    stats = await store.stats()
    assert (stats.chats, stats.people, stats.turns, stats.open_turns) == (50, 50, 150, 0)


async def test_the_first_two_messages_of_a_chat_at_once_make_one_chat(store: ConversationStore) -> None:
    talk = Talk(store)
    await asyncio.gather(talk.says("one"), talk.says("two"))
    assert [info.turns for info in await store.chats()] == [2]


async def test_ids_larger_than_32_bits_are_kept_whole(store: ConversationStore) -> None:
    discord = ChatKey("discord", "1187301234567890123", "1187301234567890124")
    person = Person("discord", "9007199254740993")
    said = message("hello", "1187301234567890125", discord, person)
    await store.receive(said)
    await store.open([said], tokens=1, at=START)
    assert (await store.load(discord)).turns[0].message == said
    assert await store.people(discord) == [person]
    assert [info.chat for info in await store.chats()] == [discord]
    assert await store.turn(10**30) is None
    assert (await store.erase_turn(discord, 10**30)).total == 0


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
async def test_what_no_database_takes_comes_back_as_a_replacement_character(store: ConversationStore, bad: str) -> None:
    good = "a\ufffdb"
    chat = ChatKey(bad, bad, bad)
    dirty = replace(message(bad, bad, chat, Person(bad, bad)), name=bad, attachments=(Attachment("file", text=bad),))
    assert await store.receive(dirty)
    assert not await store.receive(dirty)
    _, turn = await store.open([dirty], tokens=1, at=START)
    call = ToolRound((ToolCall(bad, bad, bad),), (ToolResult(bad, bad),), bad)
    await store.save(replace(turn, rounds=(call,), answer=Answer(bad, model=bad), preview=bad, failure=bad))
    (stored,) = (await store.load(chat)).turns
    assert stored.answer == Answer(good, model=good)
    assert stored.rounds == (ToolRound((ToolCall(good, good, good),), (ToolResult(good, good),), good),)
    assert (stored.message.text, stored.message.name, stored.preview, stored.failure) == (good,) * 4
    assert stored == await store.turn(turn.id)
    await store.progress(turn.id, chunk=1, preview=bad, state=State.DELIVERED)
    assert await store.edit(chat, bad, bad)


async def test_a_text_that_only_speaks_of_nul_is_left_alone(store: ConversationStore) -> None:
    turn = await Talk(store).opens(r"write \u0000 in C")
    assert (await store.load(PRIVATE_CHAT)).turns[0].message.text == r"write \u0000 in C" == turn.message.text


async def test_times_come_back_as_aware_utc_to_the_microsecond(store: ConversationStore) -> None:
    at = START.replace(microsecond=123457)
    arrived = replace(message("hello", "1"), sent_at=at.astimezone(timezone(timedelta(hours=2))))
    await store.receive(arrived)
    _, turn = await store.open([arrived], tokens=1, at=at)
    stored = await store.turn(turn.id)
    assert stored is not None
    assert stored.at == at == stored.message.sent_at
    assert stored.at.utcoffset() == timedelta(0)
    (info,) = await store.chats()
    assert info.active_at == at
    assert info.active_at.utcoffset() == timedelta(0)


async def test_a_snapshot_does_not_change_when_the_chat_goes_on(store: ConversationStore) -> None:
    talk = Talk(store)
    await talk.says("one")
    before = await talk.loaded()
    await talk.says("two")
    await store.edit(PRIVATE_CHAT, "1", "changed")
    assert [turn.message.text for turn in before.turns] == ["one"]


async def test_an_edit_replaces_the_text_in_place_and_raises_the_edition(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.says("I live in Pari")
    before = await talk.loaded()
    assert await store.edit(PRIVATE_CHAT, "1", "I live in Paris")
    after = await talk.loaded()
    assert after.turns[0].message.text == "I live in Paris"
    assert after.turns[0].answer == turn.answer
    assert after.edition > before.edition
    assert after.epoch == before.epoch


async def test_an_edit_that_changes_nothing_leaves_the_edition(store: ConversationStore) -> None:
    talk = Talk(store)
    await talk.says("hello")
    assert await store.edit(PRIVATE_CHAT, "1", "hello")
    assert (await talk.loaded()).edition == 0


async def test_an_edit_of_an_unknown_message_is_told(store: ConversationStore) -> None:
    await Talk(store).says("hello")
    await store.receive(message("/help", "9"), keep=False)
    assert not await store.edit(PRIVATE_CHAT, "8", "x")
    assert not await store.edit(PRIVATE_CHAT, "9", "x")
    assert not await store.edit(GROUP, "1", "x")


async def test_an_edit_of_an_answer_in_progress_survives_its_save(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.opens("helo")
    await store.edit(PRIVATE_CHAT, "1", "hello")
    await store.save(replace(turn, state=State.ANSWERED, answer=Answer("hi")))
    assert (await talk.loaded()).turns[0].message.text == "hello"


async def test_old_bare_keys_expire_and_the_text_they_led_to_can_still_be_edited(store: ConversationStore) -> None:
    talk = Talk(store)
    await talk.says("one")
    await talk.arrives("waits")
    now = START + timedelta(days=8)
    assert await store.expire(now, keep_days=9) == 0
    assert await store.expire(now, keep_days=7) == 1
    assert len(await store.waiting()) == 1
    assert await store.edit(PRIVATE_CHAT, "1", "won")
    assert (await talk.loaded()).turns[0].message.text == "won"


async def test_the_chats_of_a_platform_are_known_with_what_was_sent_last_the_latest_first(
    store: ConversationStore,
) -> None:
    here, there, elsewhere = ChatKey("here", "1"), ChatKey("here", "2", "7"), ChatKey("elsewhere", "3")
    for chat, minutes in ((here, (1, 3)), (there, (2, 9, 5)), (elsewhere, (8,))):
        for minute in minutes:
            await store.receive(message("hi", str(minute), chat, minute=minute), keep=minute != 9)
    assert list((await store.heard("here", limit=5)).items()) == [
        (there, START + timedelta(minutes=9)),
        (here, START + timedelta(minutes=3)),
    ]
    assert list(await store.heard("here", limit=1)) == [there]


async def test_a_chat_whose_inbox_keys_have_expired_is_still_known(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.says("hi")
    await store.expire(START + timedelta(days=9), keep_days=7)
    assert await store.heard("telegram", limit=5) == {talk.chat: turn.at}


@pytest.mark.parametrize("id_", ["7", 'a"b\\c', "é😀", "100%_"])
async def test_an_edit_finds_a_turn_by_any_message_id_when_its_inbox_key_has_expired(
    store: ConversationStore, id_: str
) -> None:
    said = message("Rome", id_)
    await store.receive(said)
    await store.open([said], tokens=1, at=START)
    await store.expire(START + timedelta(days=9), keep_days=7)
    assert await store.edit(PRIVATE_CHAT, id_, "Oslo")
    assert not await store.edit(PRIVATE_CHAT, f"{id_}0", "Paris")
    assert [turn.message.text for turn in (await store.load(PRIVATE_CHAT)).turns] == ["Oslo"]


async def test_a_turn_is_incognito_when_its_messages_are_given_so(store: ConversationStore) -> None:
    talk = Talk(store)
    waiting = await talk.arrives("hello")
    _, opened = await store.open([replace(waiting, incognito=True)], tokens=1, at=START)
    assert opened.incognito
    stored = await store.turn(opened.id)
    assert stored is not None
    assert stored.messages == (replace(waiting, incognito=True),)
    second = await talk.arrives("again")
    await store.edit(second.chat, second.id, "edited")
    begun = await store.begin([replace(second, incognito=True)], state=State.RECEIVED, tokens=1, at=START)
    assert [(m.text, m.incognito) for m in begun.messages] == [("edited", True)]
