package heygen

import (
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// video is the body of POST /v3/videos, of an avatar or of a picture.
type video struct {
	Type             *string        `json:"type"`
	Title            *string        `json:"title"`
	Resolution       *string        `json:"resolution"`
	AspectRatio      *string        `json:"aspect_ratio"`
	RemoveBackground *bool          `json:"remove_background"`
	CallbackURL      *string        `json:"callback_url"`
	CallbackID       *string        `json:"callback_id"`
	Script           *string        `json:"script"`
	VoiceID          *string        `json:"voice_id"`
	VoiceSettings    *voiceSettings `json:"voice_settings"`
	AudioURL         *string        `json:"audio_url"`
	AvatarID         *string        `json:"avatar_id"` // of an avatar
	Image            *image         `json:"image"`     // of a picture
	MotionPrompt     *string        `json:"motion_prompt"`
	Expressiveness   *string        `json:"expressiveness"`
}

type voiceSettings struct {
	Speed  *float64 `json:"speed"`
	Pitch  *float64 `json:"pitch"`
	Locale *string  `json:"locale"`
}

type image struct {
	Type *string `json:"type"`
	URL  *string `json:"url"`
}

// avatars and voices are the ids that the account has.
var (
	avatars = []string{"Angela-inTshirt-20220820", "Daisy-inskirt-20220818", "Tyler-incasualsuit-20220721"}
	voices  = []string{"1bd001e7e50f421d891986aad5158bc8", "2d5b0e6cf36f460aa7fc47e3eee4ba54"}
)

// refusal is the error for a body that is not accepted.
type refusal struct {
	status               int
	code, message, param string
}

func wrong(param, message string) *refusal {
	return &refusal{http.StatusBadRequest, "invalid_parameter", message, param}
}

var locale = regexp.MustCompile(`^[a-z]{2,3}-[A-Z]{2}$`)

// check returns a refusal if the protocol does not allow the body.
func (v *video) check() *refusal {
	oneOf := func(s *string, all ...string) bool { return s == nil || slices.Contains(all, *s) }
	switch {
	case v.Type == nil || !oneOf(v.Type, "avatar", "image"):
		return wrong("type", "Input should be 'avatar' or 'image'.")
	case *v.Type == "avatar" && (v.AvatarID == nil || v.Image != nil):
		return wrong("avatar_id", "An avatar_id, and no image, is required.")
	case *v.Type == "image" && (v.Image == nil || v.AvatarID != nil):
		return wrong("image", "An image, and no avatar_id, is required.")
	case v.Image != nil && (v.Image.Type == nil || *v.Image.Type != "url" || !public(v.Image.URL)):
		return wrong("image", "The image should be a publicly accessible HTTPS URL.")
	case v.AudioURL != nil && !public(v.AudioURL):
		return wrong("audio_url", "The audio should be a publicly accessible HTTPS URL.")
	case (v.Script == nil) == (v.AudioURL == nil):
		return wrong("script", "Exactly one of script and audio_url is required.")
	case v.Script != nil && strings.TrimSpace(*v.Script) == "":
		return wrong("script", "String should have at least 1 character.")
	case v.Script != nil && v.VoiceID == nil:
		return wrong("voice_id", "A script requires a voice_id.")
	case !oneOf(v.AspectRatio, "16:9", "9:16"):
		return wrong("aspect_ratio", "Input should be '16:9' or '9:16'.")
	case !oneOf(v.Resolution, "4k", "1080p", "720p"):
		return wrong("resolution", "Input should be '4k', '1080p' or '720p'.")
	case !oneOf(v.Expressiveness, "high", "medium", "low"):
		return wrong("expressiveness", "Input should be 'high', 'medium' or 'low'.")
	case v.VoiceSettings != nil && v.VoiceSettings.wrong():
		return wrong("voice_settings", "Speed, pitch or locale is out of range.")
	case v.AvatarID != nil && !slices.Contains(avatars, *v.AvatarID):
		return &refusal{http.StatusNotFound, "avatar_not_found", "Avatar not found.", "avatar_id"}
	case !oneOf(v.VoiceID, voices...):
		return &refusal{http.StatusNotFound, "voice_not_found", "Voice not found.", "voice_id"}
	}
	return nil
}

func (s *voiceSettings) wrong() bool {
	outside := func(f *float64, from, to float64) bool { return f != nil && (*f < from || *f > to) }
	return outside(s.Speed, 0.5, 1.5) || outside(s.Pitch, -50, 50) || s.Locale != nil && !locale.MatchString(*s.Locale)
}

// public reports whether the provider would fetch a file at the address. On a local system,
// files are on loopback, without TLS.
func public(address *string) bool {
	if address == nil {
		return false
	}
	u, err := url.Parse(*address)
	if err != nil || u.Host == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	loopback := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

// fileName returns the name of the file that stands for the video.
func (v *video) fileName() string {
	return "avatar-" + strings.ReplaceAll(or(v.AspectRatio, "16:9"), ":", "x") + ".mp4"
}

func or(s *string, other string) string {
	if s == nil {
		return other
	}
	return *s
}
