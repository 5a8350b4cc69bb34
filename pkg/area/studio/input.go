package studio

import (
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
)

// The bodies of the creating operations. Each takes the members of its kind, so that a
// member of another kind is refused and never lost silently.
type (
	Common struct {
		profile.Given
		// Id of a model of this kind. Absent: the default of the catalog.
		Model string `json:"model,omitempty" maxLength:"100"`
		// Simulated result. For test keys only.
		Sandbox *Rehearsal `json:"sandbox,omitempty"`
		// Up to 20 key-value pairs of your own.
		Metadata resource.Metadata `json:"metadata,omitempty"`
	}
	videoBody struct {
		Common
		// Description of what to make.
		Prompt string `json:"prompt" format:"studio-prompt"`
		// Aspect ratio, one of the model's aspect_ratios.
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" example:"9:16"`
		// Length, within the limits of the model. Absent: the default of the model.
		Seconds int `json:"duration_seconds,omitempty" minimum:"1" maximum:"600"`
		// Image to start from: a public https URL, or the id of one of your media.
		ImageURL string `json:"image_url,omitempty" maxLength:"2048"`
	}
	imageBody struct {
		Common
		// Description of what to make.
		Prompt string `json:"prompt" format:"studio-prompt"`
		// Aspect ratio, one of the model's aspect_ratios.
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" example:"4:5"`
		// Number of images. Absent: 1.
		Count int `json:"count,omitempty" minimum:"1" maximum:"10"`
		// Image to start from: a public https URL, or the id of one of your media.
		ImageURL string `json:"image_url,omitempty" maxLength:"2048"`
	}
	musicBody struct {
		Common
		// Description of what to make.
		Prompt string `json:"prompt" minLength:"1" maxLength:"4000" example:"Calm piano over soft rain"`
		// Length, within the limits of the model. Absent: the default of the model.
		Seconds int `json:"duration_seconds,omitempty" minimum:"1" maximum:"600"`
		// Lyrics, if the model supports them.
		Lyrics string `json:"lyrics,omitempty" maxLength:"3000"`
	}
	voiceBody struct {
		Common
		// Text to speak.
		Text string `json:"text" minLength:"1" maxLength:"100000" example:"Made of recycled nets."`
		// Language of the text (BCP 47).
		Language string `json:"language,omitempty" maxLength:"35" example:"en"`
		// The provider's id of a voice. Absent: a suitable one.
		Voice string `json:"voice,omitempty" maxLength:"100" format:"word"`
		// Sample of the voice to imitate, for models that require audio: a public https URL, or the id of one of your
		// media.
		AudioURL string `json:"audio_url,omitempty" maxLength:"2048"`
	}
	avatarBody struct {
		Common
		// Text to speak. Send this or audio_url.
		Text string `json:"text,omitempty" maxLength:"5000" example:"Made of recycled nets."`
		// Speech to use instead of text: the id of one of your media, or a public https URL of an MP3, WAV, AAC or M4A
		// of up to 25 MiB, which is fetched and measured now. Its length sets the price.
		AudioURL string `json:"audio_url,omitempty" maxLength:"2048"`
		// Image of the speaker: a public https URL, or the id of one of your media.
		ImageURL string `json:"image_url,omitempty" maxLength:"2048"`
		// Video whose lips are synchronized with the speech: a public https URL, or the id of one of your media.
		VideoURL string `json:"video_url,omitempty" maxLength:"2048"`
		// Aspect ratio, one of the model's aspect_ratios.
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" example:"9:16"`
		// Language of the text (BCP 47).
		Language string `json:"language,omitempty" maxLength:"35" example:"en"`
		// The provider's id of a voice. Absent: a suitable one.
		Voice string `json:"voice,omitempty" maxLength:"100" format:"word"`
		// The provider's id of an avatar. Absent: a suitable one.
		Avatar string `json:"avatar,omitempty" maxLength:"100" format:"word"`
	}
)

// body is the common part of the bodies of the creating operations.
type body interface {
	// asked returns the kind of the body and its content.
	asked() (provider.Kind, Common, Input)
}

func (b videoBody) asked() (provider.Kind, Common, Input) {
	return provider.KindVideo, b.Common, Input{Prompt: b.Prompt, AspectRatio: b.AspectRatio,
		Seconds: b.Seconds, ImageURL: b.ImageURL}
}

func (b imageBody) asked() (provider.Kind, Common, Input) {
	return provider.KindImage, b.Common, Input{Prompt: b.Prompt, AspectRatio: b.AspectRatio, Count: b.Count,
		ImageURL: b.ImageURL}
}

func (b musicBody) asked() (provider.Kind, Common, Input) {
	return provider.KindMusic, b.Common, Input{Prompt: b.Prompt, Seconds: b.Seconds, Lyrics: b.Lyrics}
}

func (b voiceBody) asked() (provider.Kind, Common, Input) {
	return provider.KindVoice, b.Common, Input{Text: b.Text, Language: b.Language, Voice: b.Voice,
		AudioURL: b.AudioURL}
}

func (b avatarBody) asked() (provider.Kind, Common, Input) {
	return provider.KindAvatar, b.Common, Input{
		Text: b.Text, AudioURL: b.AudioURL, ImageURL: b.ImageURL, VideoURL: b.VideoURL,
		AspectRatio: b.AspectRatio, Language: b.Language, Voice: b.Voice, Avatar: b.Avatar,
	}
}

// members are the members that an input of each kind may have.
var members = map[provider.Kind][]string{
	provider.KindVideo:  {"prompt", "aspect_ratio", "duration_seconds", "image_url"},
	provider.KindImage:  {"prompt", "aspect_ratio", "count", "image_url"},
	provider.KindMusic:  {"prompt", "duration_seconds", "lyrics"},
	provider.KindVoice:  {"text", "language", "voice", "audio_url"},
	provider.KindAvatar: {"text", "audio_url", "image_url", "video_url", "aspect_ratio", "language", "voice", "avatar"},
}

// Members returns the members that an input of each kind may have. The first says what to make.
func Members() map[provider.Kind][]string { return members }

// Rules refuses inputs that no video model can use.
func (b videoBody) Rules() error { return rules(b) }

// Rules refuses inputs that no image model can use.
func (b imageBody) Rules() error { return rules(b) }

// Rules refuses inputs that no music model can use.
func (b musicBody) Rules() error { return rules(b) }

// Rules refuses inputs that no voice model can use.
func (b voiceBody) Rules() error { return rules(b) }

// Rules refuses inputs that no avatar model can use.
func (b avatarBody) Rules() error { return rules(b) }

func rules(b body) error {
	kind, _, in := b.asked()
	return check(kind, in, "")
}

// check refuses an input that no model of the kind can use. Prefix is the place of the input in the body.
func check(kind provider.Kind, in Input, prefix string) error {
	switch {
	case kind == provider.KindAvatar && resource.IsBlank(in.Text) && in.AudioURL == "":
		return errs.Invalid(prefix+"/text", "is required, unless audio_url is sent")
	case kind == provider.KindAvatar && in.Text != "" && in.AudioURL != "":
		return errs.Invalid(prefix+"/audio_url", "cannot be sent together with text: send one of the two")
	case kind == provider.KindVoice && resource.IsBlank(in.Text):
		return errs.Invalid(prefix+"/text", "must say what is spoken")
	case kind != provider.KindVoice && kind != provider.KindAvatar && resource.IsBlank(in.Prompt):
		return errs.Invalid(prefix+"/prompt", "must say what to make")
	}
	return nil
}
