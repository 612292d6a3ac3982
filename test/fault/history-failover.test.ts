import { suite } from 'uvu'
import { playSeeds } from './support/seeds.ts'
import { twoNodes } from './support/two-nodes.ts'

const test = suite('fault/history-failover')

test('with two nodes that fail over to older copies, what was answered before the copy holds', () =>
  playSeeds('older copies', { open: twoNodes, kinds: ['failover', 'freeze', 'failover', 'process'], rounds: 2 }))

test.run()
