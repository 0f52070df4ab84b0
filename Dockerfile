# Build: everything that `npm ci` needs is a package of the lock file.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/prepare.mjs scripts/prepare.mjs
RUN npm ci --ignore-scripts
COPY . .
# Optional packages to keep in the image: "bullmq ioredis" for a shared cache on Redis and a farm.
ARG KILN_PACKAGES=""
RUN npm run build \
  && for name in $KILN_PACKAGES; do \
    npm pkg set "dependencies.$name=$(npm pkg get "devDependencies.$name" | tr -d '"')" \
    && npm pkg delete "devDependencies.$name" || exit 1; \
  done \
  && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production KILN_HOST=0.0.0.0 KILN_PORT=7420 KILN_CACHE_DIR=/var/cache/kiln
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/package.json /app/LICENSE ./
RUN mkdir -p /var/cache/kiln && chown node:node /var/cache/kiln
USER node
VOLUME /var/cache/kiln
EXPOSE 7420
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.KILN_PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/kiln.js", "serve"]
