package webhook_test

import "github.com/content-automation/api/pkg/area/webhook/webhooktest"

const hookURL = webhooktest.HookURL

var (
	newWorld = webhooktest.New
	create   = webhooktest.Create
	answers  = webhooktest.Answers
)
