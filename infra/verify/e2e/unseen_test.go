//go:build deployed

package e2e

import (
	"path"
	"slices"
	"strings"
)

// exception is a permission that the service needs but that not every run of the tests on the
// local AWS uses. An empty member matches everything.
type exception struct {
	functions []string
	// action is a pattern.
	action string
	// on is a part of the description of the statement's resources.
	on     string
	reason string
}

func (e exception) covers(function, action, on string) bool {
	matches, err := path.Match(e.action, action)
	if err != nil {
		panic(err)
	}
	return matches && strings.Contains(on, e.on) && (e.functions == nil || slices.Contains(e.functions, function))
}

var unseen = []exception{
	{action: "logs:*", reason: "Lambda writes the log; the local one does not check it"},
	{action: "xray:*", reason: "Lambda sends the traces; the local one makes none"},
	{action: "sqs:*", on: "its dead-letter queue", reason: "Lambda sends what failed; the local one does not check it"},
	{action: "sqs:ReceiveMessage", reason: "Lambda polls the queue; the local one does not check it"},
	{action: "sqs:DeleteMessage", reason: "Lambda polls the queue; the local one does not check it"},
	{action: "sqs:GetQueueAttributes", reason: "Lambda polls the queue; the local one does not check it"},
	{action: "dynamodb:*", on: "stream of", reason: "Lambda reads the stream; the local one does not check it"},
	{action: "kms:*", on: "customer's key", reason: "DynamoDB, S3 and Secrets Manager call KMS for the function; the " +
		"local ones do not"},
	{functions: []string{"crm", "sync-crm"}, action: "dynamodb:*", reason: "which of the calls of integrations meet a " +
		"race, a deletion or a list depends on the run"},
	{functions: []string{"sync-crm"}, action: "s3:GetObject", reason: "`s3:GetObject` signs the links in notes, which " +
		"nobody opens in the tests"},
	{functions: []string{"sync-crm"}, action: "secretsmanager:GetSecretValue", on: "secret of the platforms",
		reason: "Tokens are extended only as they end"},
	{functions: []string{"sync-crm"}, action: "kms:*", on: "key of social tokens", reason: "Tokens are sealed and " +
		"opened only with OAuth"},
	{functions: []string{"crm"}, action: "kms:*", on: "key of social tokens", reason: "Tokens are sealed only with OAuth"},
	{functions: []string{"mail"}, action: "*", reason: "The local AWS sends no e-mails"},
	{action: "bedrock:*", reason: "A fake stands in for Bedrock"},
	{action: "polly:*", reason: "A fake stands in for Polly"},
	{functions: []string{"generate"}, action: "s3:GetObject", reason: "`s3:GetObject` reads what Bedrock and Polly " +
		"put into the bucket; the fakes of the tests do not"},
	{functions: []string{"compose"}, action: "dynamodb:BatchGetItem", reason: "`BatchGetItem` reads the balance " +
		"where a result has cost more than was reserved"},
	{functions: []string{"compose"}, action: "s3:DeleteObject", reason: "Removes the files of a composition that " +
		"failed without a fault of the caller; those of the tests fail for their input, and their parts are kept"},
	{functions: []string{"compose"}, action: "s3:ListBucket", reason: "Finds the files that `s3:DeleteObject` removes"},
	{functions: []string{"settle"}, action: "dynamodb:*", on: "state table",
		reason: "Ends calls that died, 37 seconds after they began; none dies in the tests"},
	{functions: []string{"settle"}, action: "secretsmanager:GetSecretValue",
		reason: "Opens the claims of calls that died; none dies in the tests"},
	{functions: []string{"settle"}, action: "sqs:*", on: "queue settle",
		reason: "Holds and repeats what ends calls that died"},
	{functions: []string{"train"}, action: "iam:PassRole", reason: "Bedrock checks it where a training begins; a " +
		"fake stands in for Bedrock"},
	{functions: []string{"import-media"}, action: "dynamodb:DeleteItem",
		reason: "`DeleteItem` ends a media that was not used for 30 days"},
	{functions: []string{"import-media"}, action: "s3:ListBucket",
		reason: "Files of a deleted media are removed after a day"},
	{functions: []string{"transfer"}, action: "dynamodb:*", on: "table", reason: "An erasure begins days after it was " +
		"asked for; which other calls of an export meet a race depends on the run"},
	{functions: []string{"transfer"}, action: "s3:DeleteObject", reason: "`s3:DeleteObject` erases files, days after " +
		"that was asked for"},
	{functions: []string{"transfer"}, action: "s3:ListBucket", reason: "Finds the files that `s3:DeleteObject` erases"},
	{functions: []string{"import-data"}, action: "dynamodb:*", on: "table", reason: "which of the calls of an import " +
		"meet a race, a deletion or a list depends on the run"},
	{functions: []string{"sync-feed"}, action: "dynamodb:*", on: "table", reason: "which of the calls of a run meet a " +
		"race, a deletion or a list depends on the run"},
	{functions: []string{"sync-feed"}, action: "s3:ListBucket", reason: "S3 returns 403 instead of 404 for a " +
		"missing file without this permission; the files of the tests are there"},
	{functions: []string{"publish"}, action: "dynamodb:DeleteItem", reason: "`DeleteItem` frees the slot of a post " +
		"that goes back, and removes comments of a post that was deleted; not every run of the tests has one"},
	{functions: []string{"deliver"}, action: "dynamodb:Query", reason: "`Query` finds the deliveries that wait for a " +
		"receiver that works again; not every run of the tests has one"},
	{functions: []string{"deliver"}, action: "dynamodb:DeleteItem", reason: "`DeleteItem` closes the breaker of a " +
		"receiver that works again; not every run of the tests opens one"},
	{functions: []string{"deliver-slow"}, action: "dynamodb:*", on: "state table",
		reason: "The code is that of `deliver`, whose tests do the same"},
	{functions: []string{"deliver-slow"}, action: "s3:GetObject",
		reason: "The code is that of `deliver`, whose tests do the same"},
	{functions: []string{"replay"}, action: "sqs:SendMessage", on: "queue replay",
		reason: "Asks for the next page of a long replay"},
}
