package vk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// Where the answers are described.
const (
	schema = "VKCOM/vk-api-schema, errors.json"
	wall   = "VKCOM/vk-api-schema, wall/methods.json, wall.post"
)

// Answers are answers of VK that its documents or public reports describe.
var Answers = []control.Row{
	post("1 unknown error", 1, "Unknown error occurred", schema),
	post("10 internal error", 10, "Internal server error", schema),
	called("10 of photos.getWallUploadServer", "photos.getWallUploadServer", 10, "Internal server error", schema),
	post("6 too many calls", 6, "Too many requests per second", schema),
	post("9 flood control", 9, "Flood control", schema),
	post("29 rate limit of the method", 29, "Rate limit reached", schema),
	post("43 section unavailable", 43, "This section is temporary unavailable", schema),
	called("22 upload error", "photos.saveWallPhoto", 22, "Upload error", schema),
	called("121 invalid hash", "photos.saveWallPhoto", 121, "Invalid hash", schema),
	called("129 invalid photo", "photos.saveWallPhoto", 129, "Invalid photo", schema),
	uploaded("the upload server fails", `{"error":"unknown error"}`),
	uploaded("the upload server refuses", `{"error":"ERR_UPLOAD_BAD_IMAGE_SIZE: photo min size 400x400"}`),
	post("214 limit of the day", 214, "Access to adding post denied: you can only add 50 posts a day", "vknet/vk #597"),
	post("214 already scheduled", 214, "Access to adding post denied: a post is already scheduled for this time",
		"wall.post, dev.vk.com"),
	post("214 denied", 214, "Access to adding post denied", schema),
	post("214 for a reason that is not known", 214, "Access to adding post denied: the moon is full", schema),
	post("219 advertisement", 219, "Advertisement post was recently added", wall),
	post("224 too many advertisements", 224, "Too many ads posts", wall),
	post("220 too many recipients", 220, "Too many recipients", wall),
	post("222 links forbidden", 222, "Hyperlinks are forbidden", wall),
	post("5 expired", 5, "User authorization failed: access_token has expired.", schema),
	post("5 another address", 5, "User authorization failed: access_token was given to another ip address.", schema),
	post("1117 expired", 1117, "Access token has expired", schema),
	post("17 validation required", 17, "Validation required", schema),
	post("27 token of a community", 27, "Group authorization failed: method is unavailable with group auth.",
		"VKCOM/vk-api-schema #242"),
	post("28 token of an application", 28, "Application authorization failed", schema),
	post("1051 token of VK ID", 1051, "Method is unavailable for this profile type", "dev.vk.com, VK ID"),
	post("15 denied", 15, "Access denied", schema),
	post("15 not with these rights", 15,
		"Access denied: no access to call this method. It cannot be called with current scopes.",
		"Duff89/parser_avito #267"),
	called("204 videos denied", "video.save", 204, "Access denied", "VKCOM/vk-api-schema, video/methods.json"),
	post("203 group denied", 203, "Access to group denied", schema),
	post("18 user deleted", 18, "User was deleted or banned", schema),
	post("3610 user deactivated", 3610, "User is deactivated", schema),
	post("14 captcha", 14, "Captcha needed", schema),
	post("3300 captcha", 3300, "Recaptcha needed", schema),
	post("3301 telephone to be confirmed", 3301, "Phone validation needed", schema),
	called("704 second factor", "video.save", 704, "User needs to enable 2FA for this action",
		"VKCOM/vk-api-schema, video/methods.json"),
	post("19 content blocked", 19, "Content blocked", schema),
	post("100 wrong parameter", 100, "One of the parameters specified was missing or invalid: message is too long", schema),
	post("3102 source not found", 3102, "Specified link is incorrect (can't find source)", schema),
	post("2 application disabled", 2, "Application is disabled. Enable your application or use test mode", schema),
	post("an unknown error of a post", 4077, "Something new", "stands for those that no document has"),
	called("an unknown error of a preparation", "photos.getWallUploadServer", 4077, "Something new", "stands for those that no document has"),
}

// post is an answer to wall.post.
func post(name string, code int, message, source string) control.Row {
	return called(name, "wall.post", code, message, source)
}

// called is an answer to a method. VK refuses with the status 200.
func called(name, method string, code int, message, source string) control.Row {
	quoted, _ := json.Marshal(message) // a text is no error
	return control.Row{Name: name, Source: source, Answer: control.Answer{Status: http.StatusOK,
		Call: regexp.MustCompile("^POST /method/" + regexp.QuoteMeta(method) + "$"),
		Body: fmt.Sprintf(`{"error":{"error_code":%d,"error_msg":%s,"request_params":[]}}`, code, quoted)}}
}

// uploaded is an answer of the server to which photos are uploaded.
func uploaded(name, body string) control.Row {
	return control.Row{Name: name, Source: "public reports of the server's names", Answer: control.Answer{
		Status: http.StatusOK, Call: regexp.MustCompile("^POST /upload/photo/"), Body: body}}
}
