# The tool stored-objects, for stores in directories:
#
#   docker build -t stored-objects .
#   docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/data" stored-objects check Music
#
# Both stages are Debian 12: the program needs the C libraries of the system that built it.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    libtokyocabinet-dev zlib1g-dev libcurl4-openssl-dev
WORKDIR /source
COPY . .
# Swift's libraries are linked statically. The C libraries stay libraries of the system, so that it
# can update them. Foundation's network library needs libcurl, which has to be named here.
RUN swift build -c release --static-swift-stdlib --traits Tools -Xlinker -lcurl \
    --product stored-objects \
  && programs="$(swift build -c release --static-swift-stdlib --traits Tools --show-bin-path)" \
  && install "$programs/stored-objects" /usr/local/bin/

FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    libtokyocabinet9 zlib1g libcurl4 libstdc++6 tzdata \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/stored-objects /usr/local/bin/
WORKDIR /data
ENTRYPOINT ["stored-objects"]
CMD ["--help"]
