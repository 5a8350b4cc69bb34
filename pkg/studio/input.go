package studio

import (
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/resource"
)

// Input is what a generation was asked for. Each kind has some of the members.
type Input struct {
	Prompt      string `json:"prompt,omitempty" maxLength:"4000" doc:"Of a video, image or track: what to make" example:"A trail running shoe on wet rock, morning light"`
	Text        string `json:"text,omitempty" maxLength:"100000" doc:"Of a voice or avatar: what is spoken" example:"Made of recycled nets."`
	AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" doc:"Shape: one of the model's aspect_ratios; left out: the provider's usual one" example:"9:16"`
	Seconds     int    `json:"seconds,omitempty" minimum:"1" maximum:"600" doc:"Length of a video or track, as the model permits it; of an avatar that moves to speech: the length of that"`
	Count       int    `json:"count,omitempty" minimum:"1" maximum:"10" doc:"Of images: how many; left out: 1"`
	Language    string `json:"language,omitempty" maxLength:"35" doc:"Of a voice or avatar: language of the text (BCP 47)" example:"en"`
	Voice       string `json:"voice,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"letters, digits, - and _" doc:"Of a voice or avatar: the provider's id of the voice; left out: one that fits"`
	Avatar      string `json:"avatar,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"letters, digits, - and _" doc:"Of an avatar: the provider's id of the person; left out: one that fits"`
	Lyrics      string `json:"lyrics,omitempty" maxLength:"3000" doc:"Of a track: what is sung, where the model sings"`
	ImageURL    string `json:"image_url,omitempty" maxLength:"2048" doc:"A picture to start from, at a public https address"`
	AudioURL    string `json:"audio_url,omitempty" maxLength:"2048" doc:"Of an avatar: speech to move to instead of a text; of a voice: a recording of whom it is to sound like. At a public https address"`
	VideoURL    string `json:"video_url,omitempty" maxLength:"2048" doc:"Of an avatar: a video whose lips move to the speech, at a public https address"`
}

// SchemaName names the schema in the OpenAPI document.
func (Input) SchemaName() string { return "GenerationInput" }

// The bodies of the creating operations. They differ in what they take of an
// input, so that a member of another kind is refused and never lost silently.
type (
	Common struct {
		Model    string            `json:"model,omitempty" maxLength:"100" doc:"Id of a model of the catalog that makes this kind; left out: the catalog's default"`
		Sandbox  *Rehearsal        `json:"sandbox,omitempty" doc:"With a test key only: how the generation ends"`
		Metadata resource.Metadata `json:"metadata,omitempty" doc:"Up to 20 string pairs of your own"`
	}
	videoBody struct {
		Common
		Prompt      string `json:"prompt" minLength:"1" maxLength:"4000" doc:"What to make" example:"A trail running shoe on wet rock, morning light"`
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" doc:"One of the model's aspect_ratios" example:"9:16"`
		Seconds     int    `json:"seconds,omitempty" minimum:"1" maximum:"600" doc:"Length, as the model permits it; left out: the usual one"`
		ImageURL    string `json:"image_url,omitempty" maxLength:"2048" doc:"A picture to start from, at a public https address"`
	}
	imageBody struct {
		Common
		Prompt      string `json:"prompt" minLength:"1" maxLength:"4000" doc:"What to make" example:"A trail running shoe on wet rock, morning light"`
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" doc:"One of the model's aspect_ratios" example:"4:5"`
		Count       int    `json:"count,omitempty" minimum:"1" maximum:"10" doc:"How many; left out: 1"`
		ImageURL    string `json:"image_url,omitempty" maxLength:"2048" doc:"A picture to start from, at a public https address"`
	}
	musicBody struct {
		Common
		Prompt  string `json:"prompt" minLength:"1" maxLength:"4000" doc:"What to make" example:"Calm piano over soft rain"`
		Seconds int    `json:"seconds,omitempty" minimum:"1" maximum:"600" doc:"Length, as the model permits it; left out: the usual one"`
		Lyrics  string `json:"lyrics,omitempty" maxLength:"3000" doc:"What is sung, where the model sings"`
	}
	voiceBody struct {
		Common
		Text     string `json:"text" minLength:"1" maxLength:"100000" doc:"What is spoken" example:"Made of recycled nets."`
		Language string `json:"language,omitempty" maxLength:"35" doc:"Language of the text (BCP 47)" example:"en"`
		Voice    string `json:"voice,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"letters, digits, - and _" doc:"The provider's id of the voice; left out: one that fits"`
		AudioURL string `json:"audio_url,omitempty" maxLength:"2048" doc:"A recording of whom it is to sound like, for models that require audio, at a public https address"`
	}
	avatarBody struct {
		Common
		Text        string `json:"text,omitempty" maxLength:"5000" doc:"What is spoken; or send audio_url" example:"Made of recycled nets."`
		AudioURL    string `json:"audio_url,omitempty" maxLength:"2048" doc:"Speech to move to, at a public https address; then seconds is its length"`
		Seconds     int    `json:"seconds,omitempty" minimum:"1" maximum:"600" doc:"With audio_url: the length of the speech, which is paid for"`
		ImageURL    string `json:"image_url,omitempty" maxLength:"2048" doc:"A picture of who speaks, at a public https address"`
		VideoURL    string `json:"video_url,omitempty" maxLength:"2048" doc:"A video whose lips move to the speech, at a public https address"`
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" doc:"One of the model's aspect_ratios" example:"9:16"`
		Language    string `json:"language,omitempty" maxLength:"35" doc:"Language of the text (BCP 47)" example:"en"`
		Voice       string `json:"voice,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"letters, digits, - and _" doc:"The provider's id of the voice; left out: one that fits"`
		Avatar      string `json:"avatar,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"letters, digits, - and _" doc:"The provider's id of the person; left out: one that fits"`
	}
)

// SchemaName names the schema in the OpenAPI document.
func (videoBody) SchemaName() string { return "StudioVideoCreate" }

// SchemaName names the schema in the OpenAPI document.
func (imageBody) SchemaName() string { return "StudioImageCreate" }

// SchemaName names the schema in the OpenAPI document.
func (musicBody) SchemaName() string { return "StudioMusicCreate" }

// SchemaName names the schema in the OpenAPI document.
func (voiceBody) SchemaName() string { return "StudioVoiceCreate" }

// SchemaName names the schema in the OpenAPI document.
func (avatarBody) SchemaName() string { return "StudioAvatarCreate" }

// body is what the creating operations have in common.
type body interface {
	// asked gives what the kind's body asks for.
	asked() (provider.Kind, Common, Input)
}

func (b videoBody) asked() (provider.Kind, Common, Input) {
	return provider.KindVideo, b.Common, Input{Prompt: b.Prompt, AspectRatio: b.AspectRatio, Seconds: b.Seconds, ImageURL: b.ImageURL}
}

func (b imageBody) asked() (provider.Kind, Common, Input) {
	return provider.KindImage, b.Common, Input{Prompt: b.Prompt, AspectRatio: b.AspectRatio, Count: b.Count, ImageURL: b.ImageURL}
}

func (b musicBody) asked() (provider.Kind, Common, Input) {
	return provider.KindMusic, b.Common, Input{Prompt: b.Prompt, Seconds: b.Seconds, Lyrics: b.Lyrics}
}

func (b voiceBody) asked() (provider.Kind, Common, Input) {
	return provider.KindVoice, b.Common, Input{Text: b.Text, Language: b.Language, Voice: b.Voice, AudioURL: b.AudioURL}
}

func (b avatarBody) asked() (provider.Kind, Common, Input) {
	return provider.KindAvatar, b.Common, Input{
		Text: b.Text, AudioURL: b.AudioURL, Seconds: b.Seconds, ImageURL: b.ImageURL, VideoURL: b.VideoURL,
		AspectRatio: b.AspectRatio, Language: b.Language, Voice: b.Voice, Avatar: b.Avatar,
	}
}

// members are the members that an input of a kind may have, beside those that all
// have; the first one is what the kind cannot do without.
var members = map[provider.Kind][]string{
	provider.KindVideo:  {"prompt", "aspect_ratio", "seconds", "image_url"},
	provider.KindImage:  {"prompt", "aspect_ratio", "count", "image_url"},
	provider.KindMusic:  {"prompt", "seconds", "lyrics"},
	provider.KindVoice:  {"text", "language", "voice", "audio_url"},
	provider.KindAvatar: {"text", "audio_url", "seconds", "image_url", "video_url", "aspect_ratio", "language", "voice", "avatar"},
}

// check refuses what no model of the kind could be asked for. Prefix is where the
// input is in the body.
func (in Input) check(kind provider.Kind, prefix string) error {
	switch {
	case kind == provider.KindAvatar && resource.IsBlank(in.Text) && in.AudioURL == "":
		return errs.Invalid(prefix+"/text", "must say what is spoken, unless audio_url is given")
	case kind == provider.KindAvatar && in.Text != "" && in.AudioURL != "":
		return errs.Invalid(prefix+"/audio_url", "cannot go along with text: send one of the two")
	case kind == provider.KindAvatar && in.AudioURL != "" && in.Seconds == 0:
		return errs.Invalid(prefix+"/seconds", "must tell how long the speech at audio_url is")
	case kind == provider.KindAvatar && in.AudioURL == "" && in.Seconds != 0:
		return errs.Invalid(prefix+"/seconds", "goes along with audio_url only; the length of a text follows from it")
	case kind == provider.KindVoice && resource.IsBlank(in.Text):
		return errs.Invalid(prefix+"/text", "must say what is spoken")
	case kind != provider.KindVoice && kind != provider.KindAvatar && resource.IsBlank(in.Prompt):
		return errs.Invalid(prefix+"/prompt", "must say what to make")
	}
	return nil
}

// request is what the provider is asked for.
func (in Input) request(kind provider.Kind) provider.Request {
	req := provider.Request{
		Kind: kind, Prompt: in.Prompt, Language: in.Language, AspectRatio: in.AspectRatio, Seconds: in.Seconds, Count: in.Count,
		ImageURL: in.ImageURL, AudioURL: in.AudioURL, VideoURL: in.VideoURL, Lyrics: in.Lyrics, Voice: in.Voice, Avatar: in.Avatar,
	}
	if in.Text != "" {
		req.Prompt = in.Text
	}
	return req
}
