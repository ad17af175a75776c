# The bot alone, from the lock file: `docker build -t keepmind .` (amd64 and arm64; every package comes as a wheel).
FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/keepmind
COPY requirements.lock ./
RUN /opt/keepmind/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY core core
COPY adapters adapters
COPY bots bots
COPY config config
RUN /opt/keepmind/bin/pip install --no-cache-dir --no-deps . \
    && rm -rf /opt/keepmind/lib/python3.13/site-packages/pip

FROM python:3.13-slim
RUN useradd --uid 10001 --create-home keepmind && install -d -m 700 -o keepmind /data
COPY --from=build /opt/keepmind /opt/keepmind
USER 10001
WORKDIR /home/keepmind
# Nothing is written but /data, so the root file system may be read-only. The tokenizer's tables are part of a package.
ENV PATH=/opt/keepmind/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    KEEPMIND_DATA_DIR=/data \
    KEEPMIND_LOG__FORMAT=json \
    KEEPMIND_METRICS__HOST=0.0.0.0 \
    KEEPMIND_METRICS__PORT=9464
VOLUME /data
EXPOSE 9464
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9464/healthz', timeout=3)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["keepmind"]
CMD ["run"]
