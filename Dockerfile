# syntax=docker/dockerfile:1
# Builds and runs with nothing from outside but the base image and the packages of package-lock.json.
ARG NODE_VERSION=22

FROM node:${NODE_VERSION}-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY src ./src
COPY deploy/assets.mjs ./deploy/
RUN node_modules/.bin/tsc && node deploy/assets.mjs

FROM node:${NODE_VERSION}-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
# for snapshots from buckets; everybody else does without
RUN npm pkg set dependencies.@aws-sdk/client-s3=3.1169.0 && npm pkg delete devDependencies.@aws-sdk/client-s3 && \
    npm install --omit=dev --ignore-scripts

FROM node:${NODE_VERSION}-slim
WORKDIR /app
# MALLOC_… gives freed memory back at once; the supervisor sets it, but one worker has none
ENV NODE_ENV=production \
    MALLOC_MMAP_THRESHOLD_=131072 \
    WAYPOST_HOST=0.0.0.0 \
    WAYPOST_PORT=8080 \
    WAYPOST_SNAPSHOT=/data
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist/src ./dist/src
COPY assets ./assets
COPY deploy/healthcheck.mjs ./deploy/
# a place for accepted points and their images, for whoever mounts a volume there and names it in the settings
RUN install -d -o 1000 -g 1000 /accepted /accepted/media
# nothing else is written at run time: the root file system may be read-only, and so may /data
VOLUME /data
EXPOSE 8080
# the user `node` of the base image, as a number so that Kubernetes sees that it is not root
USER 1000:1000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
  CMD ["node", "deploy/healthcheck.mjs"]
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["serve"]
