"""This machine's clock beside that of a platform."""

from __future__ import annotations

from bots.doctor.finding import Finding, broken, fine, warning

ROOM = "machine"
OFF, FAR_OFF = 10.0, 120.0
_FIX = "Turn on time synchronisation, for instance: timedatectl set-ntp true."


def compared(platform: str, skew: float | None) -> Finding:
    """Judge by how many seconds the clock here is ahead."""
    if skew is None:
        return fine(ROOM, "clock", f"{platform} does not tell its time.")
    if abs(skew) < OFF:
        return fine(ROOM, "clock", f"It agrees with {platform}'s.")
    says = f"It is {abs(skew):.0f} seconds {'ahead of' if skew > 0 else 'behind'} {platform}'s."
    return (broken if abs(skew) >= FAR_OFF else warning)(ROOM, "clock", says, _FIX)
