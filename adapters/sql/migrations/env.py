"""What Alembic runs: the migrations, on the connection it is given and inside its transaction."""

from alembic import context

from adapters.sql.tables import METADATA
from adapters.sql.upgrade import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
context.run_migrations()
