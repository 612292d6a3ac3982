import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { readRunningService } from '../embedded/lock.ts'
import { newLogger } from '../logger.ts'
import { OFF } from '../models/process.ts'
import { SourceFailed } from '../models/source.ts'
import { openService } from '../service/open.ts'

/** Where the database is: that of `DATABASE_URL`, or the one that a running `serve` has brought. */
const findDatabase = async (given: string | undefined, dataDir: string): Promise<string> => {
  const url = given ?? (await readRunningService(dataDir))?.databaseUrl
  if (!url) throw new Error(`nothing serves ${dataDir}: start \`tracebook serve\`, or set DATABASE_URL`)
  return url
}

const refresh = async () => {
  const config = { ...readConfig(process.env), ROLES: ['api' as const] }
  if (config.CATALOGUE_URL === OFF) throw new Error('CATALOGUE_URL is none: there is nothing to refresh from')
  const databaseUrl = await findDatabase(config.DATABASE_URL, config.DATA_DIR)
  const { service, close } = await openService({ config, databaseUrl, logger: newLogger('silent') })
  try {
    const { providers, models, added, updated, removed } = await service.catalogue.refresh()
    console.log(`${providers} providers, ${models} models: ${added} added, ${updated} updated, ${removed} removed`)
  } catch (error) {
    if (!(error instanceof SourceFailed)) throw error
    throw new Error(`${config.CATALOGUE_URL} cannot be read: ${error.message}`, { cause: error })
  } finally {
    await close()
  }
}

export const modelsCommand = (): Command =>
  new Command('models')
    .description('The model registry, which gives models their names.')
    .addCommand(
      new Command('refresh')
        .description('Read the catalogue of CATALOGUE_URL now, and take over what changed.')
        .action(refresh),
    )
