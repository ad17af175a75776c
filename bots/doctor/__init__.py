"""What `keepmind doctor` looks at: `examine` gives every finding, each room of it is one file."""

from bots.doctor.examination import examine
from bots.doctor.finding import Finding

__all__ = ["Finding", "examine"]
