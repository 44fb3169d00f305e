"""A model file small enough for a test: one layer of fixed pseudo-random weights, one token a byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WIDTH = 32
WORDS = 259
CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def write(path: Path, context: int = 16384) -> Path:
    """Write the file."""
    import gguf
    import numpy as np

    numbers = np.random.default_rng(7)
    out = gguf.GGUFWriter(str(path), "llama")
    out.add_context_length(context)
    out.add_embedding_length(WIDTH)
    out.add_block_count(1)
    out.add_feed_forward_length(WIDTH * 2)
    out.add_head_count(2)
    out.add_head_count_kv(2)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // 2)
    out.add_vocab_size(WORDS)
    _words(out)

    def tensor(name: str, *shape: int) -> None:
        values: Any = numbers.standard_normal(shape).astype(np.float32) * 0.2
        out.add_tensor(name, np.ones(shape, dtype=np.float32) if "norm" in name else values)

    tensor("token_embd.weight", WORDS, WIDTH)
    tensor("output_norm.weight", WIDTH)
    tensor("output.weight", WORDS, WIDTH)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensor(f"blk.0.{name}.weight", WIDTH, WIDTH)
    tensor("blk.0.attn_norm.weight", WIDTH)
    tensor("blk.0.ffn_norm.weight", WIDTH)
    tensor("blk.0.ffn_gate.weight", WIDTH * 2, WIDTH)
    tensor("blk.0.ffn_up.weight", WIDTH * 2, WIDTH)
    tensor("blk.0.ffn_down.weight", WIDTH, WIDTH * 2)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


def _words(out: Any) -> None:
    import gguf

    names = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL, *[gguf.TokenType.BYTE] * 256]
    out.add_tokenizer_model("llama")
    out.add_token_list(names)
    out.add_token_scores([0.0] * WORDS)
    out.add_token_types(kinds)
    out.add_unk_token_id(0)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_add_bos_token(True)
    out.add_chat_template(CHAT)
