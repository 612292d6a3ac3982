import { type Loss, lossText, newLossTally } from '../losses.ts'
import type { Report } from './findings.ts'
import type { StoredLeaf } from './leaf-rows.ts'

/**
 * Reports the events that the log has lost. Only exactly the loss that the service has logged for an epoch can be accepted: a leaf that
 * is marked in addition, or not any more, is a finding. Leaves have to be added in their order, each once.
 */
export const newLossCheck = (accepted: readonly Loss[], report: Report) => {
  const tally = newLossTally()
  const rangesOf = Map.groupBy(accepted, ({ epoch }) => epoch)

  const add = ({ index, stream, revision, id, hash, lost }: StoredLeaf): void => {
    if (lost === undefined) return
    tally.add({ index, hash, lost })
    const isAccepted = (rangesOf.get(lost) ?? []).some(({ from, to }) => index >= from && index <= to)
    const detail = `the log lost it before epoch ${lost}`
    report({
      kind: 'lost',
      stream,
      revision,
      id,
      leaf: index,
      epoch: lost,
      detail,
      ...(isAccepted ? { isAccepted } : {}),
    })
  }

  /** Returns the losses of epochs without an accepted loss. */
  const finish = (): Loss[] => {
    const found = tally.losses()
    for (const loss of found) {
      const known = rangesOf.get(loss.epoch)
      if (!known || known.some((one) => lossText(one) === lossText(loss))) continue
      const detail = `the leaves that are marked as lost are not those that were accepted, but ${lossText(loss)}`
      report({ kind: 'lost', epoch: loss.epoch, detail })
    }
    return found.filter(({ epoch }) => !rangesOf.has(epoch))
  }

  return { add, finish }
}
