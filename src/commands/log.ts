import { Command } from 'commander'
import { copyCommand } from './log/copy.ts'
import { quarantineCommand } from './log/quarantine.ts'
import { replayCommand } from './log/replay.ts'
import { restoredCommand } from './log/restored.ts'
import { scavengeCommand } from './log/scavenge.ts'
import { skipCommand } from './log/skip.ts'

/** `tracebook log`: the commands on the event log. */
export const logCommand = (): Command =>
  new Command('log')
    .addCommand(copyCommand())
    .addCommand(scavengeCommand())
    .addCommand(quarantineCommand())
    .addCommand(replayCommand())
    .addCommand(skipCommand())
    .addCommand(restoredCommand())
