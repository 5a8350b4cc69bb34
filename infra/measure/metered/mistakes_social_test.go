package metered

// socialMistakes are the mistakes about social accounts.
var socialMistakes = []any{
	title("Social accounts"),
	mistake{"an unknown platform", "POST /v1/social/accounts", `{"platform":"myspace"}`, nil},
	mistake{"no platform", "POST /v1/social/accounts", `{"return_url":"https://app.example.com/social"}`, nil},
	mistake{"a login for a bot", "POST /v1/social/accounts",
		`{"platform":"telegram","username":"acme","password":"secret"}`, nil},
	mistake{"a bot without its channel", "POST /v1/social/accounts",
		`{"platform":"telegram","bot_token":"123456789:EXAMPLE-EXAMPLE"}`, nil},
	mistake{"a token that is none", "POST /v1/social/accounts",
		`{"platform":"telegram","bot_token":"EXAMPLE","channel":"@acme_news"}`, nil},
	mistake{"a password for OAuth", "POST /v1/social/accounts",
		`{"platform":"youtube","username":"acme","password":"secret"}`, nil},
	mistake{"a page that is not listed", "POST /v1/social/accounts",
		`{"platform":"tiktok","return_url":"https://elsewhere.example/social"}`, nil},
	mistake{"an account of another customer",
		"PUT /v1/factories/{factory}/social-accounts/soc_01h455vb4pex5vsknk084sn02q", "", nil},
	mistake{"POST for PUT", "POST /v1/factories/{factory}/social-accounts/soc_01h455vb4pex5vsknk084sn02q", "", nil},
	mistake{"disconnecting an account that does not exist",
		"DELETE /v1/social/accounts/soc_01h455vb4pex5vsknk084sn02q", "", nil},
}
