package webhook_test

import "github.com/content-automation/api/infra/verify/harness/webhooktest"

type deliverWorld = webhooktest.World

const deliverHookURL = webhooktest.HookURL

var (
	deliverNewWorld = webhooktest.New
	deliverAnswers  = webhooktest.Answers
)
