"""All faults of the matrix."""

from __future__ import annotations

from tests.models.openai.matrix import (
    faults_of_models,
    faults_of_replies,
    faults_of_structure,
    faults_of_texts,
    faults_of_tokens,
    faults_of_transport,
    faults_of_values,
)

FAULTS = (
    *faults_of_texts.FAULTS,
    *faults_of_models.FAULTS,
    *faults_of_values.FAULTS,
    *faults_of_tokens.FAULTS,
    *faults_of_structure.FAULTS,
    *faults_of_transport.FAULTS,
    *faults_of_replies.FAULTS,
)
