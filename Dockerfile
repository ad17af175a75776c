FROM python:3.13-slim

RUN useradd --create-home keepmind && install -d -o keepmind /data
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir --only-binary xllamacpp '.[local]' || pip install --no-cache-dir .

USER keepmind
WORKDIR /home/keepmind
ENV KEEPMIND_DATA_DIR=/data PYTHONUNBUFFERED=1
VOLUME /data
ENTRYPOINT ["keepmind"]
CMD ["run"]
