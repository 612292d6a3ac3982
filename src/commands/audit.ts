import { Command } from 'commander'
import { exitOnUsage } from '../cli/exit.ts'
import { auditDiffCommand } from './audit/diff.ts'
import { erasuresCommand } from './audit/erasures.ts'
import { exportCommand } from './audit/export.ts'
import { importCommand } from './audit/import.ts'
import { auditLogCommand } from './audit/log.ts'
import { replayCommand } from './audit/replay.ts'
import { auditShowCommand } from './audit/show.ts'

/** `tracebook audit`: what happened, who did it, and whether what was deleted is gone. */
export const auditCommand = (): Command =>
  new Command('audit')
    .description('Look into what happened, and check it')
    .exitOverride(exitOnUsage)
    .addCommand(auditLogCommand())
    .addCommand(auditShowCommand())
    .addCommand(auditDiffCommand())
    .addCommand(erasuresCommand())
    .addCommand(replayCommand())
    .addCommand(exportCommand())
    .addCommand(importCommand())
