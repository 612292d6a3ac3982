import { type Double, type DoubleOptions, startDouble } from './server.ts'

export type Cluster = {
  readonly nodes: readonly Double[]
  /** `esdb://…` with all nodes as seeds, without TLS. */
  readonly url: string
  /** Makes a node the leader: the gossip of all shows it, and what is appended there is copied to the others. */
  elect(leader: Double): void
  /** The gossip of the others shows from now on that a node is dead; it may answer all the same. */
  bury(dead: Double): void
  stop(): Promise<void>
}

/** Servers that know each other, of which the first one is the leader. Each has its own copy of the data, as nodes have. */
export const startCluster = async (size = 3, options: DoubleOptions = {}): Promise<Cluster> => {
  const nodes: Double[] = []
  for (let i = 0; i < size; i++) nodes.push(await startDouble(options))
  const dead = new Set<Double>()
  let leader = nodes[0]!

  const tell = () => {
    const members = nodes.map((each) => ({
      port: each.port,
      isLeader: each === leader,
      isAlive: !dead.has(each),
    }))
    for (const each of nodes) {
      const isLeader = each === leader
      each.node.members = members
      each.node.followers = isLeader ? nodes.filter((other) => other !== each) : []
      if (isLeader) each.faults.setLeader()
      else each.faults.setLeader('127.0.0.1', leader.port)
    }
  }
  tell()

  return {
    nodes,
    url: `esdb://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false`,
    elect: (elected) => {
      leader = elected
      tell()
    },
    bury: (node) => {
      dead.add(node)
      tell()
    },
    stop: async () => {
      for (const { faults } of nodes) faults.resume()
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}
