import type {
  DeclarativeRestApiSettings,
  IDataObject,
  IExecutePaginationFunctions,
  IHttpRequestOptions,
  INodeExecutionData,
} from 'n8n-workflow';
import { NodeOperationError, sleep } from 'n8n-workflow';
import { call } from './api';

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 10_000;
/** A run ends within 12 hours. */
const LONGEST_WAIT = 12 * 3_600_000;

/** Reads a feed, and waits until the run has ended. A run that is held is an output: it waits to be confirmed. */
export async function syncAndWait(
  this: IExecutePaginationFunctions,
  { options }: DeclarativeRestApiSettings.ResultOptions,
): Promise<INodeExecutionData[]> {
  const itemIndex = this.getItemIndex();
  let run = (await call(this, options as IHttpRequestOptions)).data as IDataObject;
  const url = `/v1/factories/${String(run.factory_id)}/feed/runs/${String(run.id)}`;
  const until = Date.now() + LONGEST_WAIT;
  // The answer to a repeat is the first one, so the run is read at least once.
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    run = (await call(this, { method: 'GET', url })).data as IDataObject;
    if ((run.state !== 'queued' && run.state !== 'running') || Date.now() > until) break;
    await sleep(pause);
  }
  if (run.state !== 'completed' && run.state !== 'held') {
    const failure = run.failure as IDataObject | null;
    throw new NodeOperationError(this.getNode(), `The feed was not read: ${String(failure?.message ?? run.state)}`, {
      description: `Run ${String(run.id)} is ${String(run.state)}`,
      itemIndex,
    });
  }
  return [{ json: run, pairedItem: { item: itemIndex } }];
}
