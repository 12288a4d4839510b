# A Lisp image of its own, served to agents over HTTP. docs/http.md shows how to run it.
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates nodejs npm
WORKDIR /source
COPY . .
RUN npm run build packages/swank-mcp
RUN sh scripts/container/install.sh /installed

FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends sbcl cl-swank nodejs && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed /usr/local
# The files of the project are usually those of a machine's first user.
ARG UID=1000
RUN useradd --create-home --uid "$UID" lisp && install -d -o lisp -g lisp /project
USER lisp
WORKDIR /project
ENV SWANK_MCP_HOST=0.0.0.0
ENV SWANK_MCP_PORT=7787
ENV SWANK_MCP_PUBLIC_URL=http://127.0.0.1:7787
EXPOSE 7787
VOLUME ["/project", "/home/lisp"]
HEALTHCHECK --start-period=20s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SWANK_MCP_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["swank-mcp", "http"]
