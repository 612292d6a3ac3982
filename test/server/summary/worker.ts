import { pino } from 'pino'
import { readConfig } from '../../../src/server/config.ts'
import { openService } from '../../../src/server/service/open.ts'
import { logEnvironment } from '../../support/log-place.ts'

/** A worker process of its own, to be killed: the environment is its configuration, `WORKER_URL` its database. */
const { WORKER_URL: databaseUrl = '', ...environment } = process.env
await openService({
  config: readConfig({ ...environment, ...logEnvironment(databaseUrl), ROLES: 'worker', CATALOGUE_URL: 'none' }),
  databaseUrl,
  logger: pino({ level: 'silent' }),
})
console.log('ready')
