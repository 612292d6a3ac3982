FROM node:26.10.0-slim
WORKDIR /app
COPY package.json package-lock.json ./
# Development dependencies hold a Node of their own and the tests' tools: this image has the first and needs none of the second.
RUN npm ci --omit=dev && mkdir /data && chown node /data
COPY migrations migrations
COPY projections projections
COPY src src
USER node
ENV HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 3000
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main.ts", "serve"]
