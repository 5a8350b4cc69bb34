package topology

import (
	"slices"
	"time"
)

var reads = []Use{Get, GetAll, List}

func use(others ...Use) []Use { return append(slices.Clone(reads), others...) }

// Functions are all the functions of the service.
var Functions = []Function{
	{Name: "authorizer", Trigger: AsAuthorizer, OwnProgram: true, Memory: 512, Timeout: 5 * time.Second,
		ReservedConcurrency: 200,
		State:               []Use{Get, Update}, CredentialsOnly: true},

	{Name: "account", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: use(Put, Update, Delete),
		Audit: []Use{List, Put}, Media: Read},
	{Name: "apikey", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: use(Put, Update, Check),
		Audit: []Use{Put}, Grants: []Grant{ManageKeySecrets, KnowMail}},
	{Name: "catalog", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: []Use{List}, Audit: []Use{Put},
		Grants: []Grant{KnowProviders}},
	{Name: "factory", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: use(Put, Update),
		Audit: []Use{Put}, Grants: []Grant{KnowProviders}},
	{Name: "content", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: use(Put, Update, Delete),
		Audit: []Use{Put}, Media: Read, Grants: []Grant{KnowProviders, ModerateTexts, SignDossiers}},
	{Name: "studio", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: use(Put, Update, Delete),
		Audit: []Use{Put}, Media: Read, Grants: []Grant{StoreInputs, ReachAddresses, KnowProviders}},
	// A model writes the replies; the gateway waits 29 seconds for them.
	{Name: "architect", Trigger: ByGateway, Memory: 512, Timeout: 28 * time.Second, State: use(Put, Update),
		Audit: []Use{Put}, Grants: []Grant{KnowProviders, CallTextModels, ModerateTexts}},
	{Name: "media", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: use(Put, Update, Delete),
		Audit: []Use{Put}, Media: Read, Grants: []Grant{SignUploads, ReachAddresses}},
	{Name: "product", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: use(Put, Update, Delete),
		Audit: []Use{Put}, Media: Read, Grants: []Grant{SignUploads, ReachAddresses}},
	{Name: "webhook", Trigger: ByGateway, Memory: 512, Timeout: 15 * time.Second, State: use(Put, Update, Delete),
		Audit: []Use{Put}, Grants: []Grant{ReachAddresses, SealSecrets, NameDeliverRole}},
	// A platform is called while a caller or a browser waits.
	{Name: "social", Trigger: ByGateway, Memory: 512, Timeout: 25 * time.Second, State: use(Put, Update, Check),
		Audit: []Use{Put}, Grants: []Grant{CallPlatforms}},
	// A CRM is called while a caller or a browser waits.
	{Name: "crm", Trigger: ByGateway, Memory: 512, Timeout: 25 * time.Second, State: use(Put, Update, Delete, Check),
		Audit: []Use{Put}, Grants: []Grant{CallPlatforms, ReachAddresses}},
	// A page waits for calls of the API.
	{Name: "console", Trigger: ByGateway, OwnProgram: true, Memory: 512, Timeout: 28 * time.Second,
		State: use(Put, Update, Delete, Check), Audit: []Use{Put},
		Grants: []Grant{ManageKeySecrets, SignPeopleIn, CallAPI, KnowMail, ReachAddresses}},
	{Name: "docs", Trigger: ByGateway, OwnProgram: true, Memory: 256, Timeout: 10 * time.Second},
	// Agents wait up to 26 seconds for work. The function calls the API, and nothing else.
	{Name: "mcp", Trigger: ByGateway, OwnProgram: true, Memory: 512, Timeout: 28 * time.Second,
		Grants: []Grant{NameIssuer, CallAPI}},

	{Name: "relay", Trigger: ByStream, Memory: 512, Timeout: time.Minute, Batch: 100,
		Sends: append([]Queue{Rollup}, Outbox...), Grants: []Grant{PublishEvents}},
	// A window collects changes, because one transaction counts many changes of a factory.
	{Name: "rollup", Trigger: ByQueue, Memory: 256, Timeout: 30 * time.Second, Consumes: []Queue{Rollup}, Batch: 100,
		Window: 5 * time.Second, ExtendsVisibility: true, Concurrency: 5,
		State: []Use{GetAll, Put, Update}},
	// A window collects entries, because each batch writes once for each operation.
	{Name: "levels", Trigger: ByAuditStream, Memory: 256, Timeout: time.Minute, Batch: 100, Window: 30 * time.Second,
		State: []Use{Update}},
	// Each message of a batch may store a file of up to 256 MiB.
	{Name: "generate", Trigger: ByQueue, Memory: 1024, Timeout: 2 * time.Minute, Storage: 2048, Consumes: Generation,
		Batch: 5, ExtendsVisibility: true, Concurrency: 50,
		State: use(Put, Update, Delete), Media: Write, Sends: append([]Queue{Compose}, Generation...),
		Grants: []Grant{KnowProviders, CallProviders, ModerateTexts, ReachAddresses}},
	// Three processors. The longest video takes about ten minutes, and 461 MB of memory; its parts and the files made
	// of them are in /tmp.
	{Name: "compose", Trigger: ByQueue, OwnProgram: true, Memory: 5308, Timeout: 15 * time.Minute, Storage: 4096,
		Consumes: []Queue{Compose}, Batch: 1, ExtendsVisibility: true, Concurrency: 20,
		State: []Use{Get, GetAll, Put, Update}, Media: Write, Files: []string{"media/*/*/cnt_*", "media/*/*/gen_*"},
		DecodesFiles: true, Sends: []Queue{Compose}, Grants: []Grant{RunFFmpeg, SignMedia, ReadManifests}},
	// Decoding and turning a large photo takes about a gigabyte.
	{Name: "import-media", Trigger: ByQueue, Memory: 2048, Timeout: 2 * time.Minute, Storage: 1024,
		Consumes: []Queue{ImportMedia}, Batch: 1, ExtendsVisibility: true, Concurrency: 20,
		State: []Use{Get, Put, Update, Delete}, Media: Write, Files: []string{"media/*/*/med_*", "media/*/*/pho_*",
			"uploads/*"}, DecodesFiles: true, Sends: []Queue{ImportMedia},
		Grants: []Grant{ReachAddresses, SignMedia, ReadManifests, DecodePictures}},
	// A part has up to a gigabyte, in /tmp. It also erases accounts and profiles, and compares the
	// objects of the media with their records.
	{Name: "transfer", Trigger: ByQueue, Memory: 1024, Timeout: 10 * time.Minute, Storage: 2560,
		Consumes: []Queue{Transfer}, Batch: 1, ExtendsVisibility: true, Concurrency: 5,
		State: use(Put, Update, Delete, Check, Scan), Audit: []Use{Put}, Media: Write,
		Files: []string{"exports/*", "media/*"}, Sends: []Queue{Transfer},
		Grants: []Grant{ManageKeySecrets, ForgetPeople}},
	// Apart from the exports and erasures, which do not wait behind it. Decoding a large photo takes about a gigabyte.
	// It reads files by Go alone: neither FFmpeg nor the library of C2PA is there.
	{Name: "import-data", Trigger: ByQueue, Memory: 2048, Timeout: 10 * time.Minute, Storage: 2560,
		Consumes: []Queue{ImportData}, Batch: 1, ExtendsVisibility: true, Concurrency: 5,
		State: use(Put, Update, Delete, Check), Audit: []Use{Put}, Media: Write,
		Files: []string{"imports/*", "media/*"}, Sends: []Queue{ImportData},
		Grants: []Grant{ReachAddresses, SealSecrets}},
	// A text model takes up to a minute.
	{Name: "diagnose", Trigger: ByQueue, Memory: 512, Timeout: 90 * time.Second, Consumes: []Queue{Diagnose}, Batch: 1,
		ExtendsVisibility: true, Concurrency: 10,
		State: use(Put), Sends: []Queue{Diagnose}, Grants: []Grant{KnowProviders, CallTextModels}},
	{Name: "settle", Trigger: ByQueue, Memory: 512, Timeout: 30 * time.Second, Consumes: []Queue{Settle}, Batch: 5,
		ExtendsVisibility: true, Concurrency: 5,
		State: use(Put, Update, Delete, Check), Sends: []Queue{Settle},
		Grants: []Grant{OpenClaims, KnowProviders, ModerateTexts, ReachAddresses, OfferProviders}},
	{Name: "train", Trigger: ByQueue, Memory: 512, Timeout: time.Minute, Consumes: []Queue{Train}, Batch: 5,
		ExtendsVisibility: true, Concurrency: 5,
		State: use(Put, Update), Sends: []Queue{Train}, Grants: []Grant{TrainModels}},
	// A large video is uploaded for minutes.
	{Name: "publish", Trigger: ByQueue, Memory: 256, Timeout: 15 * time.Minute, Consumes: []Queue{Publish}, Batch: 5,
		ExtendsVisibility: true, Concurrency: 50,
		State: use(Put, Update, Delete, Check), Audit: []Use{List, Put}, Media: Read, Sends: []Queue{Publish},
		Grants: []Grant{CallPlatforms}},
	// A page of products is imported one by one.
	{Name: "sync-crm", Trigger: ByQueue, Memory: 512, Timeout: 2 * time.Minute, Consumes: []Queue{SyncCRM}, Batch: 5,
		ExtendsVisibility: true, Concurrency: 10,
		State: use(Put, Update, Delete, Check), Media: Read, Sends: []Queue{SyncCRM},
		Grants: []Grant{CallPlatforms, ReachAddresses, KnowProviders}},
	// A feed has up to 200 MB, in /tmp.
	{Name: "sync-feed", Trigger: ByQueue, Memory: 512, Timeout: 5 * time.Minute, Storage: 1024,
		Consumes: []Queue{SyncFeed}, Batch: 1, ExtendsVisibility: true, Concurrency: 10,
		State: use(Put, Update, Delete, Check), Media: Add, Files: []string{"imports/*"}, Sends: []Queue{SyncFeed},
		Grants: []Grant{ReachAddresses}},
	{Name: "dispatch", Trigger: ByQueue, Memory: 512, Timeout: 5 * time.Second, Consumes: []Queue{Dispatch}, Batch: 10,
		ExtendsVisibility: true, Concurrency: 20,
		State: []Use{GetAll, List, Put}, Grants: []Grant{KnowMail}},
	{Name: "replay", Trigger: ByQueue, Memory: 512, Timeout: 20 * time.Second, Consumes: []Queue{Replay}, Batch: 5,
		ExtendsVisibility: true, Concurrency: 5,
		State: use(Put), Sends: []Queue{Replay}},
	// An attempt takes up to 15 seconds.
	{Name: "deliver", Trigger: ByQueue, Memory: 512, Timeout: 20 * time.Second, Consumes: []Queue{Deliver}, Batch: 10,
		ExtendsVisibility: true, Concurrency: 50,
		State: use(Put, Update, Delete), Media: Read, Sends: []Queue{Deliver, DeliverSlow},
		Grants: []Grant{ReachAddresses, OpenSecrets, AssumeRoles}},
	{Name: "deliver-slow", Trigger: ByQueue, Memory: 512, Timeout: 20 * time.Second, Consumes: []Queue{DeliverSlow},
		Batch: 10, ExtendsVisibility: true, Concurrency: 50,
		State: use(Put, Update, Delete), Media: Read, Sends: []Queue{DeliverSlow},
		Grants: []Grant{ReachAddresses, OpenSecrets}},
	// Few e-mails at a time: Amazon SES permits a new account 14 a second.
	{Name: "mail", Trigger: ByQueue, Memory: 256, Timeout: 30 * time.Second, Consumes: []Queue{Mail}, Batch: 5,
		ExtendsVisibility: true, Concurrency: 2,
		State: use(Put, Update), Sends: []Queue{Mail}, Grants: []Grant{KnowMail, SendMail}},
	// Scheduled work starts within a minute. A run ends before the next one begins.
	{Name: "due", Trigger: BySchedule, Memory: 512, Timeout: 55 * time.Second, Every: time.Minute,
		State: use(Put, Update), Sends: Outbox},
	// The canary creates content like a customer, and waits for it.
	{Name: "canary", Trigger: BySchedule, Memory: 256, Timeout: 2 * time.Minute, Every: 5 * time.Minute,
		State: []Use{Update}, Grants: []Grant{ProbeAPI, KnowProviders, WatchModels}},
	{Name: "rotate-seal", Trigger: ByRotation, Memory: 256, Timeout: 30 * time.Second, Every: 30 * 24 * time.Hour},
}
