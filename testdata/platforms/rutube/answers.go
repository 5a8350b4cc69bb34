package rutube

import (
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The calls that the answers are for.
const (
	creates = "^POST /api/video/$"
	reads   = "^GET /api/video/[^/]+/$"
	changes = "^PATCH /api/video/[^/]+/$"
)

// Where the answers are described.
const (
	rest   = "django-rest-framework.org, Exceptions"
	client = "github.com/rutube/php-api-client"
	unseen = "stands for those that no document has"
)

// Answers are answers of Rutube that its documents, or those of the framework that it uses, describe.
var Answers = []control.Row{
	row("400 of members", creates, 400, `{"title":["Ensure this field has no more than 100 characters."]}`, rest),
	row("401", creates, 401, `{"detail":"Invalid token."}`, rest),
	row("403 of the token", creates, 403, `{"detail":"User inactive or deleted."}`, rest),
	row("403 of one video", creates, 403, `{"detail":"You do not have permission to perform this action."}`, rest),
	row("403 of a proxy", creates, 403, `<html>Forbidden</html>`, unseen),
	row("401 of a proxy", creates, 401, `<html>Unauthorized</html>`, unseen),
	row("404", reads, 404, `{"detail":"Not found."}`, rest),
	row("413", creates, 413, `<html>Request Entity Too Large</html>`, unseen),
	row("429", creates, 429, `{"detail":"Request was throttled. Expected available in 30 seconds."}`, rest),
	row("500", creates, 500, `<h1>Server Error (500)</h1>`, rest),
	row("503 of the call that shows the video", changes, 503, ``, unseen),
	row("409 of the call that shows the video", changes, 409, `{"detail":"Conflict."}`, unseen),
	row("error", reads, 200, `{"status":"error","is_hidden":true,"action_reason":{"id":3,"name":"bad_file"}}`, client),
	row("deleted", reads, 200, `{"status":"processing","is_deleted":true,"is_hidden":true,"action_reason":"copyright"}`,
		client),
	row("downloading", reads, 200, `{"status":"processing","is_deleted":true,"is_hidden":true,`+
		`"action_reason":{"id":5,"name":"downloading_video"}}`, client),
	row("moderation", reads, 200, `{"status":"processing","is_hidden":true,"action_reason":{"id":0,"name":"moderation"}}`,
		client),
}

func row(name, call string, status int, body, source string) control.Row {
	return control.Row{Name: name, Source: source, Answer: control.Answer{Call: regexp.MustCompile(call), Status: status,
		Body: body}}
}
