package webhook_test

import "github.com/content-automation/api/infra/verify/harness/webhooktest"

const hookURL = webhooktest.HookURL

var (
	newWorld = webhooktest.New
	create   = webhooktest.Create
	answers  = webhooktest.Answers
)
