import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Config } from '../config.ts'
import { api } from '../../contract/api.ts'
import type { Api } from '../../contract/route.ts'
import { commitRoutes } from '../attribution/commit-routes.ts'
import { attributionRoutes } from '../attribution/routes.ts'
import { exportRoute } from '../export/routes.ts'
import { feedRoutes } from '../feed/routes.ts'
import { diffRoute } from '../history/diff-route.ts'
import { moveRoute } from '../history/move-route.ts'
import { eraseRoute } from '../history/erase-route.ts'
import { eventRoutes } from '../history/event-routes.ts'
import { timelineRoutes } from '../history/timeline-routes.ts'
import { inviteRoutes } from '../namespace/invite-routes.ts'
import { mcpRoute } from '../mcp/route.ts'
import { modelRoutes } from '../models/routes.ts'
import { usageRoute } from '../usage/route.ts'
import { memberRoutes } from '../namespace/member-routes.ts'
import { namespaceRoutes } from '../namespace/routes.ts'
import { eventProofRoutes } from '../proof/event-routes.ts'
import { messageProofRoute } from '../proof/message-proofs.ts'
import { treeRoutes } from '../proof/routes.ts'
import type { Service } from './service.ts'
import { limitsText } from '../realtime/settings.ts'
import { realtimeRoutes } from '../realtime/routes.ts'
import { searchRoutes } from '../search/routes.ts'
import { sessionRoutes } from '../session/routes.ts'
import { childrenRoute } from '../trace/children-route.ts'
import { messageRoutes } from '../trace/messages/routes.ts'
import { namespaceTracesRoute } from '../trace/namespace-traces-route.ts'
import { traceRoutes } from '../trace/routes.ts'
import { userRoutes } from '../user/routes.ts'
import { avatarRoutes } from '../namespace/avatar-routes.ts'
import { commitsPageRoute } from '../web/commits-route.ts'
import { feedPageRoute } from '../web/feed-route.ts'
import { helpPageRoute } from '../web/help-route.ts'
import { insightsPageRoute } from '../web/insights-route.ts'
import { searchPageRoute } from '../web/search-route.ts'
import { namespacePageRoute } from '../web/namespace-route.ts'
import { namespaceSettingsRoutes } from '../web/namespace-settings-routes.ts'
import { newNamespaceRoute } from '../web/new-namespace-route.ts'
import { installPeople } from '../web/people.ts'
import { membersRoutes } from '../web/members-routes.ts'
import { oembedRoute } from '../web/oembed-route.ts'
import { settingsRoutes } from '../web/settings-routes.ts'
import { timelinePageRoute } from '../web/timeline-route.ts'
import { traceActionRoutes } from '../web/trace-actions.ts'
import { subAgentsPageRoute } from '../web/sub-agents-route.ts'
import { traceChangesRoute } from '../web/trace-changes-route.ts'
import { traceContinueRoute } from '../web/trace-continue-route.ts'
import { traceEvidenceRoutes } from '../web/trace-evidence-routes.ts'
import { traceMessageRoute } from '../web/trace-message-route.ts'
import { tracePageRoute } from '../web/trace-route.ts'
import { traceRowsRoute } from '../web/trace-rows-route.ts'
import { traceTimelineRoute } from '../web/trace-timeline-route.ts'
import { browserRoutes } from '../signin/browser-routes.ts'
import { invitePageRoutes } from '../signin/invite-routes.ts'
import { knownBrowserRoutes } from '../signin/known-browser-routes.ts'
import { signinRoutes } from '../signin/routes.ts'
import { assertStatesAuth, installAuth } from '../http/auth.ts'
import { compilersFactory, installBodies } from '../http/body.ts'
import { answerUnroutable, newBrokenHeadAnswer } from '../http/unroutable.ts'
import { REOPENING, installClosing } from '../http/closing.ts'
import { drain } from '../http/drain.ts'
import { installAssets } from '../http/assets.ts'
import { installClientPackage } from '../http/client-package.ts'
import { installErrors, sendError } from '../http/errors.ts'
import { answerHead } from '../http/head-requests.ts'
import { invalid, notFound } from '../http/http-error.ts'
import { ExplainedUnavailable } from '../../eventstore/engine/rejected.ts'
import { installCrossOriginCheck, installPrintedAddress } from '../http/origin.ts'
import { healthRoutes } from '../health/routes.ts'
import { type HostCheck, installHost, newHostCheck } from '../http/host.ts'
import { installLargeAnswers } from '../http/large-answers.ts'
import { installLimits } from '../http/limits.ts'
import { installLogPosition } from '../http/log-position.ts'
import { installMetrics, metricsRoute } from '../http/metrics.ts'
import { waitAsClient } from '../http/node-permits.ts'
import { installOpenApi } from '../http/openapi.ts'
import { refuseOtherMethods } from '../http/other-methods.ts'
import { installSecurity, unhookedHeaders } from '../http/security.ts'
import { newRequestLogger } from '../http/request-logger.ts'
import { requestIdOf } from '../http/request-id.ts'
import { boundSockets } from '../http/sockets.ts'
import { endAnsweredUpgrades, isUpgrade } from '../http/upgrades.ts'
import { wantsPage } from '../pages/page.ts'

const REQUEST_TIMEOUT_MS = 120_000
const MAX_PARAM_LENGTH = 6_000
/** Enough for an address with two externalIds of 1,024 characters, each of which takes up to twelve bytes when it is percent-encoded. */
const MAX_HEAD_BYTES = 32 * 1024

/** The API of a service with these settings. */
export const apiOf = (config: Config): Api => {
  const socket = api['GET /v1/realtime']
  return { ...api, 'GET /v1/realtime': { ...socket, description: `${socket.description}${limitsText(config)}` } }
}

const newApp = (logger: FastifyBaseLogger, config: Config, checkHost: HostCheck): FastifyInstance => {
  // Hooks do not run for an invalid path.
  const headers = unhookedHeaders(config)
  const app: FastifyInstance = Fastify({
    loggerInstance: logger,
    trustProxy: config.TRUST_PROXY,
    clientErrorHandler: newBrokenHeadAnswer(config),
    http: {
      requireHostHeader: false, // Node's answer would not have the error format of the API
      maxHeaderSize: MAX_HEAD_BYTES,
      shouldUpgradeCallback: (request) => isUpgrade(app.server, request),
    },
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: newRequestLogger,
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: false },
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory },
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    forceCloseConnections: 'idle',
    return503OnClosing: false, // Fastify's answer would not have the error format of the API
    frameworkErrors: (_error, request, reply) => {
      reply.headers({ ...headers, 'x-request-id': request.id })
      // People follow links that others have cut or mistyped.
      const error = wantsPage(request) ? notFound() : invalid(undefined, 'The path is not valid')
      void sendError(checkHost(request.raw) ?? error, request, reply)
    },
  })
  installPrintedAddress(app, config)
  return app
}

/** The HTTP service without its socket: routes, errors, limits, documentation. */
export const buildApp = async (service: Service): Promise<FastifyInstance> => {
  const checkHost = newHostCheck(service.config)
  const app = newApp(service.logger as FastifyBaseLogger, service.config, checkHost)
  answerUnroutable(app.server, service.config)
  installErrors(app)
  boundSockets(app.server, { sockets: service.permits.sockets, logger: service.logger, lines: app.refusalLines })
  endAnsweredUpgrades(app)
  installBodies(app, service.bodyThreads, service.permits)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  installMetrics(app, service)
  installHost(app, service.config, checkHost)
  installSecurity(app, service.config)
  installLargeAnswers(app, service.permits)
  app.addHook('onRequest', waitAsClient)
  installAuth(app, service)
  app.addHook('onRequest', waitAsClient)
  app.addHook('preValidation', waitAsClient) // a body arrives in turns of the event loop that belong to the socket
  installCrossOriginCheck(app, service.config)
  installLimits(app, service.limits)
  installPeople(app, service)
  installLogPosition(app)
  installClosing(app, service.over)
  const hasApi = service.config.ROLES.includes('api')
  if (hasApi) await installOpenApi(app, apiOf(service.config), service.config)
  healthRoutes(app, service)
  metricsRoute(app, service)
  if (hasApi) await installApi(app, service)
  return app
}

type ReopeningOptions = Pick<Service, 'config' | 'logger' | 'now'> & {
  /** Why the service cannot be opened yet, for the operator; empty if nothing is known to prevent it. */
  readonly problem: () => string
}

/** What answers while the service is opened again: 503, so that clients repeat their requests, and that the process is alive. */
export const buildReopening = async ({ config, logger, now, problem }: ReopeningOptions): Promise<FastifyInstance> => {
  const checkHost = newHostCheck(config)
  const app = newApp(logger as FastifyBaseLogger, config, checkHost)
  answerUnroutable(app.server, config)
  installErrors(app)
  endAnsweredUpgrades(app)
  installHost(app, config, checkHost)
  installSecurity(app, config)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (request.routeOptions.url?.startsWith('/health')) return done()
    drain(request.raw).then(() => done(new ExplainedUnavailable(REOPENING)), done)
  })
  const missing = () => ['the service is opened again, because its log has changed', problem()].filter(Boolean)
  healthRoutes(app, { now, readiness: async () => ({ missing: [missing().join(': ')], degraded: [] }) })
  await app.ready()
  return app
}

/** Installs the routes of the role `api`. Processes with other roles answer only health checks and metrics. */
export const installApi = async (app: FastifyInstance, service: Service): Promise<void> => {
  const refuseOthers = refuseOtherMethods(app)
  installAssets(app)
  installClientPackage(app)
  await app.register(async (scope) => {
    scope.addHook('onRoute', assertStatesAuth)
    answerHead(scope)
    for (const routes of [
      sessionRoutes,
      userRoutes,
      namespaceRoutes,
      memberRoutes,
      usageRoute,
      inviteRoutes,
      avatarRoutes,
      browserRoutes,
      signinRoutes,
      invitePageRoutes,
      knownBrowserRoutes,
      traceRoutes,
      childrenRoute,
      messageRoutes,
      namespaceTracesRoute,
      timelineRoutes,
      eventRoutes,
      eraseRoute,
      moveRoute,
      diffRoute,
      exportRoute,
      feedRoutes,
      searchRoutes,
      attributionRoutes,
      commitRoutes,
      realtimeRoutes,
      modelRoutes,
      mcpRoute,
      treeRoutes,
      eventProofRoutes,
      messageProofRoute,
      feedPageRoute,
      namespacePageRoute,
      insightsPageRoute,
      membersRoutes,
      newNamespaceRoute,
      namespaceSettingsRoutes,
      timelinePageRoute,
      commitsPageRoute,
      tracePageRoute,
      traceRowsRoute,
      traceChangesRoute,
      subAgentsPageRoute,
      traceMessageRoute,
      traceContinueRoute,
      traceTimelineRoute,
      traceEvidenceRoutes,
      settingsRoutes,
      traceActionRoutes,
      oembedRoute,
      helpPageRoute,
      searchPageRoute,
    ]) {
      routes(scope, service)
    }
  })
  refuseOthers()
}
