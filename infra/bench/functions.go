package main

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/apikey"
	"github.com/content-automation/api/pkg/audit"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/studio"
	"github.com/content-automation/api/pkg/webhook"
)

// configured are the providers that the stack has.
const configured = "bedrock,elevenlabs,fal,heygen,polly,replicate"

// parts is what the functions are made of.
type parts struct {
	db       *store.DB
	log      *audit.Log
	recorder httpapi.Recorder // writes to the log
	signer   *media.Signer
	now      func() time.Time
}

// functions makes the handlers of the areas as the commands under functions do.
func (p parts) functions() map[string]*httpapi.Router {
	accounts, factories := account.NewService(p.db, p.now), factory.NewService(p.db, p.now)
	routers := map[string]*httpapi.Router{}
	for name, register := range map[string][]func(*httpapi.Router){
		"account": {accounts.Register, p.log.Register, account.NewEvents(p.db, p.signer).Register},
		"apikey":  {apikey.NewService(p.db, accounts, p.now, rand.Reader).Register},
		"catalog": {catalog.NewOffer(configured).Register},
		"content": {content.NewService(p.db, factories, p.signer, catalog.NewOffer(configured), p.now).Register},
		"factory": {factories.Register},
		// Addresses of webhooks are looked up when they are saved: one on the machine
		// itself needs no look-up.
		"studio":  {studio.NewService(p.db, p.signer, webhook.NewClient(true), catalog.NewOffer(configured), p.now).Register},
		"webhook": {webhook.NewService(p.db, webhook.NewClient(true), arn.ARN{Partition: "aws"}, p.now, rand.Reader).Register},
	} {
		r := httpapi.NewRouter(p.db, p.recorder, p.now)
		for _, area := range register {
			area(r)
		}
		routers[name] = r
	}
	return routers
}
