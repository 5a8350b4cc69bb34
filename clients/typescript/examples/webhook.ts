// Receives webhooks in Express. WEBHOOK_SECRET is the signing secret of the webhook.
import express from 'express';
import { Receiver, SignatureError } from '@content-automation/api';

const receiver = new Receiver(process.env.WEBHOOK_SECRET!);
const app = express();

app.post('/hooks', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
  try {
    const event = await receiver.event(request.headers, request.body);
    if (event.type === 'content.generated') console.log(event.type, event.data.object.title);
    response.sendStatus(204);
  } catch (error) {
    response.sendStatus(error instanceof SignatureError ? 400 : 500);
  }
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('listening', server.address()));
