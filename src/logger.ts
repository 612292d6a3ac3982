import { type Logger, pino } from 'pino'

/** Structured logs as JSON lines on standard output; tokens, cookies and codes are never in them. */
export const newLogger = (level: string): Logger =>
  pino({
    level,
    redact: {
      paths: ['req.headers.authorization', 'req.headers.cookie', '*.token', '*.code', '*.exchangeCode'],
      censor: '[redacted]',
    },
    serializers: {
      err: pino.stdSerializers.errWithCause,
      req: (request: { method?: string; id?: unknown }) => ({ method: request.method, id: request.id }),
    },
  })
