package compose

import (
	"errors"
	"fmt"

	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
)

// Code is the reason for which a composition failed.
type Code string

// The codes.
const (
	// CodeInvalid reports an invalid description.
	CodeInvalid Code = "invalid_input"
	// CodeUnreadable reports an input that is broken or of the wrong type.
	CodeUnreadable Code = "input_unreadable"
	// CodeTooLarge reports an input with too many pixels, or one that plays too long.
	CodeTooLarge Code = "input_too_large"
	// CodeTooShort reports a clip or track that is too short.
	CodeTooShort Code = "input_too_short"
	// CodeSilent reports a narration or track without sound.
	CodeSilent Code = "input_silent"
	// CodeTextTooLong reports a text that does not fit even in the smallest letters.
	CodeTextTooLong Code = "text_too_long"
	// CodeScript reports a text whose script the fonts lack.
	CodeScript Code = "unsupported_script"
	// CodeCanceled reports that the context has ended.
	CodeCanceled Code = "canceled"
	// CodeInternal reports any other error. A retry may succeed.
	CodeInternal Code = "internal"
)

// Stage is the part of the work that failed.
type Stage string

// The stages.
const (
	StageInputs  Stage = "inputs"  // reading the parts
	StageSound   Stage = "sound"   // mixing and normalizing
	StagePicture Stage = "picture" // drawing and encoding
	StageJoin    Stage = "join"    // joining scenes and sound
)

// Error is the error of a failed composition.
type Error struct {
	Code  Code
	Stage Stage
	// About names the part of the description, as a JSON pointer such as /scenes/2/clip. It is empty if the error
	// concerns none of them.
	About string
	// Message describes the problem and its solution, for callers.
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
	return &Error{Code: CodeUnreadable, Stage: stage, About: about, Message: "The file is broken, or not of the type " +
		"that is needed here. Replace it.", Err: err}
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
		e.Code, e.Message = CodeScript, "There is no font for the script of the text. Write it in another script, or "+
			"turn it off."
	case errors.Is(err, text.ErrEmpty):
		e.Code, e.Message = CodeInvalid, "The text has no character that can be shown. Change it."
	default:
		return internal(StagePicture, err)
	}
	return e
}
