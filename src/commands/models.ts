import { Command } from 'commander'
import { exitOnUsage, runCommand } from '../cli/exit.ts'

/** `tracebook models refresh` */
export const modelsCommand = (): Command =>
  new Command('models').exitOverride(exitOnUsage).addCommand(
    new Command('refresh')
      .description('Read the catalogue of CATALOGUE_URL now, and take over what changed.')
      .addHelpText('after', '\nExamples:\n  tracebook models refresh')
      .exitOverride(exitOnUsage)
      .action(() => runCommand(async () => (await import('./run/models.ts')).refresh())),
  )
