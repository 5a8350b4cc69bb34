package webhook_test

import "github.com/content-automation/api/infra/verify/harness/webhooktest"

type dispatchWorld = webhooktest.World

const dispatchHookURL = webhooktest.HookURL

var (
	dispatchNewWorld = webhooktest.New
	dispatchCreate   = webhooktest.Create
	dispatchAnswers  = webhooktest.Answers
)
