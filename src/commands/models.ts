import { io } from '../cli/io.ts'
import { exitCodes } from '../cli/exit.ts'
import { printLines } from '../cli/output.ts'
import { readConfig } from '../server/config.ts'
import { newLogger } from '../base/logger.ts'
import { NO_CATALOGUE } from '../server/models/settings.ts'
import { SourceFailed } from '../server/models/source.ts'
import { openService } from '../server/service/open.ts'
import { findDatabaseUrl } from './support/database.ts'

export const refresh = async (): Promise<number> => {
  const config = { ...readConfig(io().env), ROLES: ['api' as const] }
  if (config.CATALOGUE_URL === NO_CATALOGUE)
    throw new Error('CATALOGUE_URL is none: set it to an address or a file to refresh from.')
  const databaseUrl = await findDatabaseUrl(config)
  const logger = await newLogger('silent')
  const { service, close } = await openService({ config, databaseUrl, logger, fillsRegistry: false })
  try {
    const { providers, models, added, updated, removed } = await service.catalogue.refresh()
    await printLines([
      `${providers} providers, ${models} models: ${added} added, ${updated} updated, ${removed} removed`,
    ])
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof SourceFailed)) throw error
    throw new Error(`${config.CATALOGUE_URL} cannot be read: ${error.message}`, { cause: error })
  } finally {
    await close()
  }
}
