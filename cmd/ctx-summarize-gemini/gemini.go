package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/summarizer"
	"github.com/gemini-ctx/ctx/internal/summarizer/model"
)

const (
	defaultBase  = "https://generativelanguage.googleapis.com"
	defaultModel = "gemini-2.5-flash"
	// A fifth of the context window of the family's smallest model. A summary of more input is
	// vague.
	defaultInput = 200_000
)

// thinking is the number of tokens that a model may spend on thoughts, which count as output.
const thinking = 8192

type gemini struct {
	client *model.Client
	model  string
}

func open(s model.Settings) (model.AnswerFunc, int, error) {
	name := strings.TrimPrefix(firstOf(s.Model, s.First("CTX_GEMINI_MODEL"), defaultModel),
		"models/")
	most, err := s.Number("CTX_GEMINI_MAX_INPUT", defaultInput)
	if err != nil {
		return nil, 0, err
	}
	key := s.First("GEMINI_API_KEY", "GOOGLE_API_KEY")
	if key == "" {
		ask, err := openInstalled(name)
		return ask, most, err
	}
	base := s.First("GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL")
	if base == "" {
		base = defaultBase
	}
	client, err := model.NewClient(model.Options{Base: base, Header: "x-goog-api-key", Key: key,
		Insecure: s.Insecure,
		Sleep:    s.Sleep, Jitter: s.Jitter, Now: s.Now})
	if err != nil {
		return nil, 0, err
	}
	return (&gemini{client, name}).ask, most, nil
}

// openInstalled returns an Ask that runs the installed Gemini CLI, which has its own login.
func openInstalled(name string) (model.AnswerFunc, error) {
	agent, _ := model.Find("gemini")
	r, err := model.NewRunner(model.AgentOptions{Agent: agent, Model: name, Environ: os.Environ()})
	if err != nil {
		return nil,
			errors.New(
				"no key, and no `gemini` on PATH: set GEMINI_API_KEY or GOOGLE_API_KEY, or " +
					"install Gemini CLI and log in")
	}
	return r.Ask, nil
}

func firstOf(list ...string) string {
	i := slices.IndexFunc(list, func(s string) bool { return s != "" })
	return list[i]
}

type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought,omitempty"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type generation struct {
	Temperature     float64 `json:"temperature"`
	MaxOutputTokens int     `json:"maxOutputTokens"`
}

type request struct {
	SystemInstruction content    `json:"systemInstruction"`
	Contents          []content  `json:"contents"`
	GenerationConfig  generation `json:"generationConfig"`
}

type response struct {
	Candidates []struct {
		Content      content `json:"content"`
		FinishReason string  `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	ModelVersion string `json:"modelVersion"`
}

func (g *gemini) ask(ctx context.Context, r summarizer.WireRequest) (model.Reply, error) {
	in := request{
		SystemInstruction: content{Parts: []part{{Text: r.Prompt}}},
		Contents:          []content{{Role: "user", Parts: []part{{Text: model.Text(r)}}}},
		GenerationConfig:  generation{MaxOutputTokens: 2*r.Tokens + thinking},
	}
	var out response
	if err := g.client.Post(ctx, "/v1beta/models/"+url.PathEscape(g.model)+":generateContent", in,
		&out); err != nil {
		return model.Reply{}, err
	}
	return g.reply(out)
}

// reply returns the text of an answer, or the reason why there is none.
func (g *gemini) reply(out response) (model.Reply, error) {
	if why := out.PromptFeedback.BlockReason; why != "" {
		return model.Reply{},
			&model.Error{Kind: summarizer.Refused, Message: "the model blocked the inputs: " + why}
	}
	if len(out.Candidates) == 0 {
		return model.Reply{},
			&model.Error{Kind: summarizer.Refused, Message: "the model gave no candidate"}
	}
	first := out.Candidates[0]
	var text strings.Builder
	for _, p := range first.Content.Parts {
		if !p.Thought {
			text.WriteString(p.Text)
		}
	}
	reply := model.Reply{Text: text.String(), Model: firstOf(out.ModelVersion, g.model),
		Cut: first.FinishReason == "MAX_TOKENS"}
	switch {
	case first.FinishReason != "" && first.FinishReason != "STOP" && !reply.Cut:
		return model.Reply{},
			&model.Error{Kind: summarizer.Refused,
				Message: "the model stopped: " + first.FinishReason}
	case strings.TrimSpace(reply.Text) == "":
		return model.Reply{},
			&model.Error{Kind: summarizer.Refused,
				Message: fmt.Sprintf("the model wrote no text (finish reason %q)",
					first.FinishReason)}
	}
	return reply, nil
}
