package topology

import "time"

// Functions are all the functions of the service.
var Functions = []Function{
	{Name: "authorizer", Trigger: AsAuthorizer, Memory: 512, Timeout: 5 * time.Second, Reserved: 200, State: Write, Counts: true},

	{Name: "account", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: Read, Audit: Extend, Media: Read},
	{Name: "apikey", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: Write, Audit: Append, Issues: true},
	{Name: "catalog", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, Audit: Append, Offers: true},
	{Name: "factory", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: Write, Audit: Append},
	{Name: "content", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: Write, Audit: Append, Media: Read, Offers: true},
	{Name: "studio", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: Write, Audit: Append, Media: Read, Keeps: true, Webhooks: true, Offers: true},
	{Name: "webhook", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: Write, Audit: Append, Webhooks: true, Seals: true, Introduces: true},
	{Name: "docs", Trigger: ByGateway, Memory: 256, Timeout: 10 * time.Second},

	{Name: "relay", Trigger: ByStream, Memory: 512, Timeout: time.Minute, Batch: 100, Sends: Outbox, Publishes: true},
	{Name: "chain", Trigger: ByAuditStream, Memory: 256, Timeout: time.Minute, Batch: 100, Audit: Extend},
	// Each message of a batch may store a file of up to 256 MiB.
	{Name: "generate", Trigger: ByQueue, Memory: 1024, Timeout: 2 * time.Minute, Storage: 2048, Consumes: Generation, Batch: 5, Holds: true, Concurrency: 50,
		State: Write, Media: Write, Sends: Generation, Offers: true, Generates: true},
	{Name: "dispatch", Trigger: ByQueue, Memory: 512, Timeout: 5 * time.Second, Consumes: []Queue{Dispatch}, Batch: 10, Holds: true, Concurrency: 20,
		State: Write, Sends: []Queue{Deliver, Dispatch}},
	{Name: "replay", Trigger: ByQueue, Memory: 512, Timeout: 20 * time.Second, Consumes: []Queue{Replay}, Batch: 5, Holds: true, Concurrency: 5,
		State: Write, Sends: []Queue{Deliver, Replay}, Batches: true},
	// An attempt takes up to 15 seconds.
	{Name: "deliver", Trigger: ByQueue, Memory: 512, Timeout: 20 * time.Second, Consumes: []Queue{Deliver}, Batch: 10, Holds: true, Concurrency: 50,
		State: Write, Media: Read, Sends: []Queue{Deliver, DeliverSlow}, Webhooks: true, Unseals: true, Assumes: true, Batches: true},
	{Name: "deliver-slow", Trigger: ByQueue, Memory: 512, Timeout: 20 * time.Second, Consumes: []Queue{DeliverSlow}, Batch: 10, Holds: true, Concurrency: 50,
		State: Write, Media: Read, Sends: []Queue{DeliverSlow}, Webhooks: true, Unseals: true, Batches: true},
	// It ends before it is called again.
	{Name: "due", Trigger: BySchedule, Memory: 512, Timeout: 4 * time.Minute, Every: 5 * time.Minute, State: Write, Sends: Outbox},
	{Name: "rotate-seal", Trigger: ByRotation, Memory: 256, Timeout: 30 * time.Second, Every: 30 * 24 * time.Hour},
}
