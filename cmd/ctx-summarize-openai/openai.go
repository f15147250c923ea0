package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gemini-ctx/ctx/internal/summarizer"
	"github.com/gemini-ctx/ctx/internal/summarizer/model"
)

const (
	defaultBase = "https://api.openai.com/v1"
	// Half of the context window of common models.
	defaultInput = 60_000
	// Ollama's default context has 4,096 tokens, including prompt and answer.
	localInput = 2000
)

type openai struct {
	client *model.Client
	model  string
	warm   bool // the model accepts no temperature
}

func open(s model.Settings) (model.AnswerFunc, int, error) {
	name := s.Model
	if name == "" {
		name = s.First("CTX_OPENAI_MODEL")
	}
	if name == "" {
		return nil, 0, errors.New("no model: set CTX_OPENAI_MODEL")
	}
	base, key := s.First("OPENAI_BASE_URL"), s.First("OPENAI_API_KEY")
	if base == "" {
		if base = defaultBase; key == "" {
			return nil, 0,
				errors.New(
					"no key: set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that needs none")
		}
	}
	def := defaultInput
	if u, err := url.Parse(base); err == nil && u.Scheme == "http" {
		def = localInput
	}
	most, err := s.Number("CTX_OPENAI_MAX_INPUT", def)
	if err != nil {
		return nil, 0, err
	}
	client, err := model.NewClient(model.Options{Base: base, Header: "Authorization",
		Prefix: "Bearer ", Key: key, Insecure: s.Insecure,
		Sleep: s.Sleep, Jitter: s.Jitter, Now: s.Now})
	if err != nil {
		return nil, 0, err
	}
	return (&openai{client: client, model: name}).ask, most, nil
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type request struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Stream      bool      `json:"stream"`
	Temperature *float64  `json:"temperature,omitempty"`
}

type response struct {
	Model   string `json:"model"`
	Choices []struct {
		Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
}

func (o *openai) ask(ctx context.Context, r summarizer.WireRequest) (model.Reply, error) {
	in := request{Model: o.model,
		Messages: []message{{"system", r.Prompt}, {"user", model.Text(r)}}}
	if !o.warm {
		in.Temperature = new(float64)
	}
	var out response
	err := o.client.Post(ctx, "/chat/completions", in, &out)
	var e *model.Error
	if errors.As(err, &e) && e.Kind == summarizer.Terminal && !o.warm &&
		strings.Contains(strings.ToLower(e.Message), "temperature") {
		o.warm = true // reasoning models accept only the default
		return o.ask(ctx, r)
	}
	if err != nil {
		return model.Reply{}, err
	}
	return o.reply(out)
}

// reply returns the text of an answer, or the reason why there is none.
func (o *openai) reply(out response) (model.Reply, error) {
	if len(out.Choices) == 0 {
		return model.Reply{},
			&model.Error{Kind: summarizer.Refused, Message: "the model gave no choice"}
	}
	first := out.Choices[0]
	switch text := strings.TrimSpace(first.Message.Content); {
	case first.Message.Refusal != "":
		return model.Reply{},
			&model.Error{Kind: summarizer.Refused,
				Message: "the model refused: " + first.Message.Refusal}
	case first.FinishReason == "content_filter":
		return model.Reply{},
			&model.Error{Kind: summarizer.Refused, Message: "the content filter stopped the model"}
	case text == "":
		return model.Reply{},
			&model.Error{Kind: summarizer.Refused,
				Message: fmt.Sprintf("the model wrote no text (finish reason %q)",
					first.FinishReason)}
	}
	name := out.Model
	if name == "" {
		name = o.model
	}
	return model.Reply{Text: first.Message.Content, Model: name,
		Cut: first.FinishReason == "length"}, nil
}
