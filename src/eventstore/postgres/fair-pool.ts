import pg from 'pg'
import { currentClient } from '../../base/current-client.ts'
import { type Permit, type Permits, TICK_MS, newPermits } from '../../base/permits.ts'

type Connected = (error: Error | undefined, connection: pg.PoolClient | undefined, release: () => void) => void

type Options = pg.PoolConfig & {
  /** What its connections are for. */
  readonly name: string
  /** The most connections that are open at once. */
  readonly max: number
}

/**
 * A pool whose free connections go to the waiting client that holds fewest, and not to whoever has waited longest: the client is
 * that of the code that asks (`currentClient`). Whatever waits for longer than a request may is refused with `Busy`.
 */
export class FairPool extends pg.Pool {
  /** The connections that clients hold. */
  readonly permits: Permits
  readonly #permitOf = new WeakMap<pg.PoolClient, Permit>()
  readonly #ticking: NodeJS.Timeout

  constructor({ name, ...options }: Options) {
    super(options)
    this.permits = newPermits({ capacity: options.max, things: `queries for ${name}`, graceTicks: 0 })
    this.#ticking = setInterval(this.permits.tick, TICK_MS).unref()
    this.on('release', (_error, connection) => this.#permitOf.get(connection)?.release())
  }

  async #connect(): Promise<pg.PoolClient> {
    const client = currentClient()
    const permit = this.permits.tryAcquire(client, 1) ?? (await this.permits.acquire(client, 1))
    try {
      const connection = await super.connect()
      this.#permitOf.set(connection, permit)
      return connection
    } catch (error) {
      permit.release()
      throw error
    }
  }

  // `query` of the pool calls this as well.
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    const connected = this.#connect()
    if (!callback) return connected
    connected.then(
      (connection) => callback(undefined, connection, () => connection.release()),
      (error: Error) => callback(error, undefined, () => {}),
    )
  }

  override end(): Promise<void>
  override end(callback: () => void): void
  override end(callback?: () => void): Promise<void> | void {
    clearInterval(this.#ticking)
    return callback ? super.end(callback) : super.end()
  }
}
