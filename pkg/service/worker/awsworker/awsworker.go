// Package awsworker opens what the functions that work in the background are made from on AWS: clients of its services.
// Only functions link it.
package awsworker

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock/lives"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area/awsarea"
	"github.com/content-automation/api/pkg/area/people/sesmail"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/area/webhook/awsdest"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/seal/stored/rotation"
	"github.com/content-automation/api/pkg/cloud/secret/manager"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/media/objects/s3objects"
	"github.com/content-automation/api/pkg/record/connection/cognito"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/awsbus"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

// Open returns what a deployed function needs, according to its entry in the table of functions.
func Open(f topology.Function) worker.Env {
	n, e := needs.Read(f), worker.Env{Env: awsarea.Open(f)}
	queues := sqsqueue.Open(e.AWS, needs.QueueURLs(f.QueueAddresses()))
	e.Queue = func(name topology.Queue) queue.Queue { return queues[name] }
	e.Budgets = n.Budgets()
	if f.Audit != nil {
		e.Entries = store.Open(e.AWS, n.AuditTable)
	}
	if n.Bucket != "" {
		e.Files = objects.Bucket{Store: objects.New(s3objects.New(e.AWS, n.Bucket)), Signer: e.Media}
	}
	if f.May(topology.PublishEvents) {
		e.Bus = awsbus.New(e.AWS, n.Bus)
	}
	if f.May(topology.CallProviders, topology.CallTextModels) {
		e.Models = registry.New(registry.Config{Configured: provider.ParseConfigured(n.Providers), AWS: e.AWS,
			Secret: manager.Secret(e.AWS, n.ProviderSecret), Bucket: n.Bucket, Objects: e.Files,
			Endpoint: n.ProviderEndpoint,
			StandIns: e.Offer().StandIns, Now: time.Now})
	}
	if f.May(topology.CallProviders) {
		e.Sources = &fetch.Fetcher{Client: fetch.NewClient(e.Loopback), Now: time.Now}
		// Only a local stack names an endpoint: that of fakes.
		e.Repeats = n.ProviderEndpoint != ""
	}
	if n.TrainingRole != "" {
		e.Trainer = tune.New(tune.Config{AWS: e.AWS, Fakes: n.ProviderEndpoint, Bucket: n.Bucket, Role: n.TrainingRole})
	}
	if f.May(topology.AssumeRoles) {
		e.Accounts = awsdest.New(e.AWS)
	}
	if n.Pool != "" {
		e.People = cognito.New(e.AWS, n.Pool, "")
	}
	if f.May(topology.SendMail) && n.MailSender != "" {
		e.Mailer, e.URL = sesmail.New(e.AWS, n.MailSender, n.MailSet), n.PublicURL
	}
	if n.SealSecret != "" {
		// rand.Text has 128 bits: twice that is the strength of the keys.
		name := func() string { return rand.Text() + rand.Text() }
		e.RotateSeal = rotation.NewRotator(secretsmanager.NewFromConfig(e.AWS), n.SealSecret, time.Now, name).Handle
	}
	if f.May(topology.ProbeAPI) {
		e.ProbeTarget = manager.Secret(e.AWS, n.CanarySecret)
	}
	if f.May(topology.WatchModels) && provider.ParseConfigured(n.Providers).Has(bedrock.Name) {
		e.Lives = func(ctx context.Context) (map[string]provider.Life, error) { return lives.Read(ctx, e.AWS) }
	}
	return e
}
