package compose

import (
	"errors"
	"fmt"

	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
)

// Code says why a composition failed.
type Code string

// The codes.
const (
	// CodeInvalid: the description is wrong.
	CodeInvalid Code = "invalid_input"
	// CodeUnreadable: an input is broken, or not of the type that it should be.
	CodeUnreadable Code = "input_unreadable"
	// CodeTooLarge: an input has more pixels or plays longer than can be worked on.
	CodeTooLarge Code = "input_too_large"
	// CodeTooShort: a clip or track ends before it may.
	CodeTooShort Code = "input_too_short"
	// CodeSilent: nothing is to be heard of a narration or track.
	CodeSilent Code = "input_silent"
	// CodeTextTooLong: a text does not fit its place even in the smallest letters.
	CodeTextTooLong Code = "text_too_long"
	// CodeScript: the fonts lack the script of a text.
	CodeScript Code = "unsupported_script"
	// CodeCanceled: the context has ended.
	CodeCanceled Code = "canceled"
	// CodeInternal: anything else. Another attempt may succeed.
	CodeInternal Code = "internal"
)

// Stage is the part of the work that failed.
type Stage string

// The stages.
const (
	StageInputs  Stage = "inputs"  // reading what the parts are
	StageSound   Stage = "sound"   // mixing, and bringing to the right loudness
	StagePicture Stage = "picture" // drawing and encoding
	StageJoin    Stage = "join"    // joining scenes and sound
)

// Error is why a composition failed.
type Error struct {
	Code  Code
	Stage Stage
	// About names the part of the description, as a JSON pointer such as
	// /scenes/2/clip; empty where it is none of them.
	About string
	// Message says what is wrong and what to do, for callers.
	Message string
	Err     error
}

// Error implements error.
func (e *Error) Error() string {
	s := fmt.Sprintf("compose: %s: %s: %s", e.Stage, e.Code, e.Message)
	if e.About != "" {
		s = fmt.Sprintf("compose: %s: %s of %s: %s", e.Stage, e.Code, e.About, e.Message)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func internal(stage Stage, err error) *Error {
	return &Error{Code: CodeInternal, Stage: stage, Message: "The media could not be composed. Try again.", Err: err}
}

func invalid(about, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Stage: StageInputs, About: about, Message: fmt.Sprintf(format, args...)}
}

func unreadable(stage Stage, about string, err error) *Error {
	return &Error{Code: CodeUnreadable, Stage: stage, About: about, Message: "The file is broken, or not of the type that is needed here. Replace it.", Err: err}
}

// ofRun returns the error of a run of ffmpeg.
func ofRun(stage Stage, about string, err error) *Error {
	switch {
	case ffmpeg.IsKind(err, ffmpeg.Canceled):
		return &Error{Code: CodeCanceled, Stage: stage, Message: "The composition was canceled.", Err: err}
	case ffmpeg.IsKind(err, ffmpeg.Unreadable):
		return unreadable(stage, about, err)
	}
	e := internal(stage, err)
	e.About = about
	return e
}

// ofText returns the error of laying out a text.
func ofText(about string, err error) *Error {
	e := &Error{Stage: StagePicture, About: about, Err: err}
	switch {
	case errors.Is(err, text.ErrTooLong):
		e.Code, e.Message = CodeTextTooLong, "The text is too long for its place. Shorten it."
	case errors.Is(err, text.ErrScript):
		e.Code, e.Message = CodeScript, "There is no font for the script of the text. Write it in another script, or turn it off."
	case errors.Is(err, text.ErrEmpty):
		e.Code, e.Message = CodeInvalid, "The text has no character that can be shown. Change it."
	default:
		return internal(StagePicture, err)
	}
	return e
}
